import { MultiSelect, SegmentedControl, Select, Stack, Switch, TextInput } from '@mantine/core';
import { useEditor, useErrors } from './editor_context.ts';
import type { StepOf } from './exits.ts';
import { EventMatchFields } from './event_match_fields.tsx';
import { DurationField } from './fields.tsx';

const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;

export const ZONES = Intl.supportedValuesOf('timeZone');

export const DelayPanel = ({ id, step }: { id: string; step: StepOf<'delay'> }) => {
  const { setStep } = useEditor();
  const errorOf = useErrors(`/steps/${id}`);
  return (
    <DurationField
      label="Wait for"
      value={step.duration}
      onChange={(duration) => setStep(id, { ...step, duration })}
      error={errorOf('duration')}
    />
  );
};

type UntilProps = { id: string; step: StepOf<'delay_until'> };
type Until = StepOf<'delay_until'>['until'];
type OfDay = Exclude<Until, { trait: string }>;
type OfTrait = Extract<Until, { trait: string }>;

const OfDayFields = ({ id, step, until }: UntilProps & { until: OfDay }) => {
  const { setStep } = useEditor();
  const errorOf = useErrors(`/steps/${id}/until`);
  const set = (next: OfDay) => setStep(id, { ...step, until: next });
  const { weekdays, ...rest } = until;
  return (
    <>
      <TextInput
        label="Time of day"
        type="time"
        value={until.time}
        onChange={(event) => set({ ...until, time: event.currentTarget.value })}
        error={errorOf('time') ?? errorOf('')}
      />
      <MultiSelect
        label="Only on"
        placeholder={weekdays?.length ? '' : 'any day'}
        data={WEEKDAYS.map((day) => ({ value: day, label: day }))}
        value={weekdays ?? []}
        onChange={(days) =>
          set(days.length === 0 ? rest : { ...until, weekdays: days as typeof weekdays & string[] })
        }
      />
    </>
  );
};

const OfTraitFields = ({ id, step, until }: UntilProps & { until: OfTrait }) => {
  const { setStep } = useEditor();
  const errorOf = useErrors(`/steps/${id}/until`);
  const set = (next: OfTrait) => setStep(id, { ...step, until: next });
  const { offset, time, repeats, trait } = until;
  const isBefore = offset?.startsWith('-') ?? false;
  const length = offset?.replace(/^-/, '') ?? 'P0D';
  const setOffset = (next: string, before: boolean): void => {
    const { offset: _, ...rest } = until;
    const isNone = /^PT?0[A-Z]$/.test(next);
    set(isNone ? rest : { ...rest, offset: `${before ? '-' : ''}${next}` });
  };
  return (
    <>
      <TextInput
        label="Date in the trait"
        placeholder="trial_ends_at"
        value={trait}
        onChange={(event) => set({ ...until, trait: event.currentTarget.value })}
        error={errorOf('trait') ?? errorOf('')}
      />
      <DurationField
        label="How far from it"
        description="0 is on the date itself"
        value={length}
        onChange={(next) => setOffset(next, isBefore)}
        error={errorOf('offset')}
      />
      {offset !== undefined && (
        <SegmentedControl
          aria-label="Before or after the date"
          data={['before', 'after']}
          value={isBefore ? 'before' : 'after'}
          onChange={(word) => setOffset(length, word === 'before')}
        />
      )}
      <TextInput
        label="At (if the time of day matters)"
        type="time"
        value={time ?? ''}
        onChange={(event) => {
          const { time: _, ...rest } = until;
          const next = event.currentTarget.value;
          set(next === '' ? rest : { ...rest, time: next });
        }}
        error={errorOf('time')}
      />
      <Switch
        label="Every year, as a birthday"
        checked={repeats === 'yearly'}
        onChange={(event) => {
          const { repeats: _, ...rest } = until;
          set(event.currentTarget.checked ? { ...rest, repeats: 'yearly' } : rest);
        }}
      />
    </>
  );
};

export const UntilPanel = ({ id, step }: UntilProps) => {
  const { setStep } = useEditor();
  const errorOf = useErrors(`/steps/${id}`);
  const { timezone, until } = step;
  const choose = (what: string): void =>
    setStep(id, { ...step, until: what === 'day' ? { time: '09:00' } : { trait: '' } });
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="What is waited for"
        data={[
          { value: 'day', label: 'A time of day' },
          { value: 'trait', label: 'A date of theirs' },
        ]}
        value={'trait' in until ? 'trait' : 'day'}
        onChange={choose}
      />
      {'trait' in until ? (
        <OfTraitFields id={id} step={step} until={until} />
      ) : (
        <OfDayFields id={id} step={step} until={until} />
      )}
      <Select
        label="Time zone"
        placeholder="their own"
        data={ZONES}
        value={timezone ?? null}
        onChange={(zone) => {
          const { timezone: _, ...rest } = step;
          setStep(id, zone === null ? rest : { ...rest, timezone: zone });
        }}
        error={errorOf('timezone')}
        searchable
        clearable
      />
    </Stack>
  );
};

export const EventPanel = ({ id, step }: { id: string; step: StepOf<'wait_for_event'> }) => {
  const { projectId, setStep } = useEditor();
  const errorOf = useErrors(`/steps/${id}`);
  return (
    <Stack gap="sm">
      <EventMatchFields
        projectId={projectId}
        value={step}
        onChange={(match) => setStep(id, { ...step, ...match })}
        errorOf={errorOf}
      />
      <DurationField
        label="At most for"
        value={step.timeout}
        onChange={(timeout) => setStep(id, { ...step, timeout })}
        error={errorOf('timeout')}
      />
    </Stack>
  );
};
