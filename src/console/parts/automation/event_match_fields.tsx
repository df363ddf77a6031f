import { WhereFields } from '../condition/where_fields.tsx';
import { EventField } from './fields.tsx';
import type { StepOf } from './exits.ts';
import { ServerOnlyField } from './server_only.tsx';

type EventMatch = Pick<StepOf<'wait_for_event'>, 'event' | 'where' | 'source'>;

type Props = {
  projectId: string;
  label?: string;
  value: EventMatch;
  onChange: (change: Partial<EventMatch>) => void;
  /** The error of a field, such as `event` or `where/0/property`. */
  errorOf: (field: string) => string | undefined;
};

/** The fields of an event that counts: its name, what its properties must be, and where it comes from. */
export const EventMatchFields = ({
  projectId,
  label = 'Event',
  value: { event, where, source },
  onChange,
  errorOf,
}: Props) => (
  <>
    <EventField
      projectId={projectId}
      label={label}
      value={event}
      onChange={(next) => onChange({ event: next })}
      error={errorOf('event')}
    />
    <WhereFields
      where={where}
      onChange={(next) => onChange({ where: next })}
      errorAt={(pointer) => errorOf(pointer.slice(1))}
      at=""
    />
    <ServerOnlyField
      value={source}
      onChange={(next) => onChange({ source: next })}
      error={errorOf('source')}
    />
  </>
);
