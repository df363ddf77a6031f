import { Select, Stack, Text } from '@mantine/core';
import { SegmentChoice } from './choice.tsx';
import { useEditor, useErrors } from './editor_context.ts';
import { EventMatchFields } from './event_match_fields.tsx';
import type { Trigger } from './exits.ts';
import { ScheduleFields } from './schedule_fields.tsx';

const KINDS = [
  { value: 'event', label: 'An event happens' },
  { value: 'segment_entered', label: 'Somebody enters a segment' },
  { value: 'segment_left', label: 'Somebody leaves a segment' },
  { value: 'schedule', label: 'On a schedule, for a segment' },
  { value: 'manual', label: 'By hand: one person, or a segment' },
];

const newTrigger = (kind: Trigger['kind']): Trigger => {
  if (kind === 'event') return { kind, event: '', where: [] };
  if (kind === 'schedule') return { kind, segment_id: '', start: '', zone: 'automation' };
  return kind === 'manual' ? { kind } : { kind, segment_id: '' };
};

export const TriggerPanel = () => {
  const { projectId, definition, change } = useEditor();
  const errorOf = useErrors('/trigger');
  const { trigger } = definition;
  const set = (next: Trigger) => change({ ...definition, trigger: next }, 'trigger');
  return (
    <Stack gap="sm">
      <Select
        label="Starts when"
        data={KINDS}
        value={trigger.kind}
        onChange={(kind) => set(newTrigger(kind as Trigger['kind']))}
        allowDeselect={false}
        error={errorOf('kind')}
      />
      {trigger.kind === 'event' && (
        <EventMatchFields
          projectId={projectId}
          value={trigger}
          onChange={(match) => set({ ...trigger, ...match })}
          errorOf={errorOf}
        />
      )}
      {'segment_id' in trigger && (
        <SegmentChoice
          projectId={projectId}
          label="Segment"
          value={trigger.segment_id}
          onChange={(segment_id) => set({ ...trigger, segment_id })}
          error={errorOf('segment_id')}
        />
      )}
      {trigger.kind === 'schedule' && <ScheduleFields trigger={trigger} set={set} />}
      {trigger.kind === 'manual' && (
        <Text size="sm" c="dimmed">
          Once it is active, start it under “People”.
        </Text>
      )}
    </Stack>
  );
};
