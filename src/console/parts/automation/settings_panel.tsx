import { SegmentedControl, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { SegmentChoice } from './choice.tsx';
import { useEditor, useErrors } from './editor_context.ts';
import { EventMatchFields } from './event_match_fields.tsx';
import type { Settings } from './exits.ts';
import { DurationField } from './fields.tsx';
import { Cap, Late, QuietHours } from './settings_limits.tsx';
import type { Part } from './settings_limits.tsx';

const RE_ENTRY = [
  { value: 'once', label: 'Once in their life' },
  { value: 'every_time', label: 'Every time' },
  { value: 'once_per', label: 'Once per length of time' },
  { value: 'by_property', label: 'Once per value of a property' },
];

const newReEntry = (kind: string): Settings['re_entry'] => {
  if (kind === 'once_per') return { once_per: 'P30D' };
  if (kind === 'by_property') return { by_property: '' };
  return kind === 'every_time' ? 'every_time' : 'once';
};

const ReEntry = ({ settings: { re_entry }, set }: Part) => {
  const errorOf = useErrors('/settings/re_entry');
  const kind = typeof re_entry === 'string' ? re_entry : (Object.keys(re_entry)[0] ?? 'once');
  return (
    <>
      <Select
        label="How often may the same person enter?"
        data={RE_ENTRY}
        value={kind}
        onChange={(next) => set({ re_entry: newReEntry(next ?? 'once') })}
        allowDeselect={false}
        error={typeof re_entry === 'string' ? errorOf('') : undefined}
      />
      {typeof re_entry === 'object' && 'once_per' in re_entry && (
        <DurationField
          label="Once per"
          value={re_entry.once_per}
          onChange={(once_per) => set({ re_entry: { once_per } })}
          error={errorOf('')}
        />
      )}
      {typeof re_entry === 'object' && 'by_property' in re_entry && (
        <TextInput
          label="Property of the trigger event"
          placeholder="order_id"
          value={re_entry.by_property}
          onChange={(event) => set({ re_entry: { by_property: event.currentTarget.value } })}
          error={errorOf('')}
        />
      )}
    </>
  );
};

const newGoal = (kind: string): Settings['goal'] => {
  if (kind === 'event') return { event: '', where: [] };
  return kind === 'segment' ? { segment_id: '' } : null;
};

const Goal = ({ settings: { goal }, set }: Part) => {
  const { projectId } = useEditor();
  const errorOf = useErrors('/settings/goal');
  const kind = goal === null ? 'none' : 'segment_id' in goal ? 'segment' : 'event';
  return (
    <>
      <Select
        label="Goal"
        description="Whoever reaches it leaves, and is counted as converted."
        data={[
          { value: 'none', label: 'None' },
          { value: 'event', label: 'An event happens' },
          { value: 'segment', label: 'They come into a segment' },
        ]}
        value={kind}
        onChange={(next) => set({ goal: newGoal(next ?? 'none') })}
        allowDeselect={false}
      />
      {goal !== null && 'event' in goal && (
        <EventMatchFields
          projectId={projectId}
          label="Event of the goal"
          value={goal}
          onChange={(match) => set({ goal: { ...goal, ...match } })}
          errorOf={(field) => errorOf(field) ?? (field === 'event' ? errorOf('') : undefined)}
        />
      )}
      {goal !== null && 'segment_id' in goal && (
        <SegmentChoice
          projectId={projectId}
          label="Segment of the goal"
          value={goal.segment_id}
          onChange={(segment_id) => set({ goal: { segment_id } })}
          error={errorOf('')}
        />
      )}
    </>
  );
};

const Category = ({ settings: { category, exit_on_unsubscribe }, set }: Part) => (
  <Stack gap="xs">
    <Text size="sm" fw={500}>
      Its mail is
    </Text>
    <SegmentedControl
      aria-label="Category"
      data={[
        { value: 'marketing', label: 'Marketing' },
        { value: 'transactional', label: 'Transactional' },
      ]}
      value={category}
      onChange={(next) =>
        set({ category: next === 'transactional' ? 'transactional' : 'marketing' })
      }
    />
    <Text size="xs" c="dimmed">
      {category === 'marketing'
        ? 'Has a link to unsubscribe, and goes to nobody who has.'
        : 'Ignores unsubscribes and quiet hours; never suppressions.'}
    </Text>
    <Switch
      label="Whoever unsubscribes leaves"
      checked={exit_on_unsubscribe}
      onChange={(event) => set({ exit_on_unsubscribe: event.currentTarget.checked })}
    />
  </Stack>
);

export const SettingsPanel = () => {
  const { definition, change } = useEditor();
  const { settings } = definition;
  const set = (next: Partial<Settings>) =>
    change({ ...definition, settings: { ...settings, ...next } }, 'settings');
  const part = { settings, set };
  return (
    <Stack gap="md">
      <ReEntry {...part} />
      <Goal {...part} />
      <Category {...part} />
      <QuietHours {...part} />
      <Cap {...part} />
      <Late {...part} />
    </Stack>
  );
};
