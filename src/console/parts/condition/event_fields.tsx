import { Group, NumberInput, Select, Stack } from '@mantine/core';
import { EventField } from '../automation/fields.tsx';
import type { Condition, Of, RunScene, Test } from './shapes.ts';
import { OF_TIME, TestFields } from './test_fields.tsx';
import { WhereFields } from './where_fields.tsx';

export type Scene = {
  projectId: string;
  /** What is wrong at a place of the conditions. */
  errorAt: (pointer: string) => string | undefined;
  /** Of conditions that a run is asked. */
  run?: RunScene | undefined;
};
/** What the fields of a condition are given. */
export type Leaf<C> = Scene & {
  condition: C;
  onChange: (condition: Condition) => void;
  at: string;
};

const COUNTS = [
  { value: 'at_least', label: 'at least' },
  { value: 'at_most', label: 'at most' },
  { value: 'exactly', label: 'exactly' },
];

const Within = ({ condition, onChange, at, errorAt }: Leaf<Of<'event'>>) => {
  const { within_days: days, ...rest } = condition;
  return (
    <Group gap="xs" align="flex-start">
      <Select
        aria-label="When"
        data={[
          { value: 'ever', label: 'ever' },
          { value: 'within', label: 'in the last' },
        ]}
        value={days === undefined ? 'ever' : 'within'}
        onChange={(when) => onChange(when === 'ever' ? rest : { ...rest, within_days: 30 })}
        allowDeselect={false}
        w={120}
      />
      {days !== undefined && (
        <NumberInput
          aria-label="Days"
          value={days}
          onChange={(next) => onChange({ ...rest, within_days: Number(next) || 0 })}
          suffix=" days"
          allowDecimal={false}
          min={1}
          error={errorAt(`${at}/within_days`)}
          w={120}
        />
      )}
    </Group>
  );
};

export const EventFields = (props: Leaf<Of<'event'>>) => {
  const { condition, onChange, at, errorAt, projectId } = props;
  const { count } = condition;
  return (
    <Stack gap="xs">
      <Group gap="xs" align="flex-start">
        <EventField
          projectId={projectId}
          label="Event"
          value={condition.event}
          onChange={(event) => onChange({ ...condition, event })}
          error={errorAt(`${at}/event`)}
        />
        <Select
          label="How often"
          data={COUNTS}
          value={count.is}
          onChange={(is) =>
            onChange({ ...condition, count: { ...count, is: is as typeof count.is } })
          }
          allowDeselect={false}
          w={120}
        />
        <NumberInput
          label="Times"
          value={count.value}
          onChange={(value) =>
            onChange({ ...condition, count: { ...count, value: Number(value) || 0 } })
          }
          allowDecimal={false}
          min={0}
          error={errorAt(`${at}/count`)}
          w={90}
        />
      </Group>
      <Within {...props} />
      <WhereFields
        where={condition.where}
        onChange={(where) => onChange({ ...condition, where })}
        errorAt={errorAt}
        at={at}
      />
    </Stack>
  );
};

export const EventTimeFields = ({
  condition,
  onChange,
  at,
  errorAt,
  projectId,
}: Leaf<Of<'event_time'>>) => (
  <Stack gap="xs">
    <Group gap="xs" align="flex-start">
      <Select
        label="Which"
        data={[
          { value: 'first', label: 'the first' },
          { value: 'last', label: 'the last' },
        ]}
        value={condition.occurrence}
        onChange={(which) =>
          onChange({ ...condition, occurrence: which === 'first' ? 'first' : 'last' })
        }
        allowDeselect={false}
        w={110}
      />
      <EventField
        projectId={projectId}
        label="Event"
        value={condition.event}
        onChange={(event) => onChange({ ...condition, event })}
        error={errorAt(`${at}/event`)}
      />
    </Group>
    <TestFields
      test={condition.test}
      only={OF_TIME}
      onChange={(test: Test) => onChange({ ...condition, test } as Condition)}
      error={errorAt(`${at}/test`)}
    />
    <WhereFields
      where={condition.where}
      onChange={(where) => onChange({ ...condition, where })}
      errorAt={errorAt}
      at={at}
    />
  </Stack>
);
