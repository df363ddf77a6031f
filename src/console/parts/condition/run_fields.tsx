import { Group, Select, Stack } from '@mantine/core';
import { EventMatchFields } from '../automation/event_match_fields.tsx';
import { SEND_FACTS } from '../automation/words.ts';
import type { Leaf } from './event_fields.tsx';
import type { Condition, Of } from './shapes.ts';
import { WhereFields } from './where_fields.tsx';

/** The fields of a condition on the event that began the run. */
export const TriggerFields = ({ condition, onChange, at, errorAt }: Leaf<Of<'trigger'>>) => (
  <WhereFields
    where={condition.where}
    onChange={(where) => onChange({ ...condition, where })}
    errorAt={errorAt}
    at={at}
  />
);

/** The fields of a condition on an event since the run began. */
export const EventSinceFields = (props: Leaf<Of<'event_since'>>) => {
  const { condition, onChange, at, errorAt, projectId } = props;
  return (
    <Stack gap="xs">
      <EventMatchFields
        projectId={projectId}
        value={condition}
        onChange={(match) => onChange({ ...condition, ...match })}
        errorOf={(field) => errorAt(`${at}/${field}`)}
      />
    </Stack>
  );
};

/** The fields of a condition on an email of the run. */
export const EmailFields = ({ condition, onChange, at, errorAt, run }: Leaf<Of<'email'>>) => (
  <Group gap="xs" grow>
    <Select
      label="Email"
      data={[...(run?.emailSteps ?? [])]}
      value={condition.step === '' ? null : condition.step}
      onChange={(step) => onChange({ ...condition, step: step ?? '' })}
      error={errorAt(`${at}/step`)}
    />
    <Select
      label="What became of it"
      data={SEND_FACTS}
      value={condition.became}
      onChange={(became) => onChange({ ...condition, became } as Condition)}
      allowDeselect={false}
    />
  </Group>
);
