import { Select, Stack, Text } from '@mantine/core';
import { SegmentChoice } from './choice.tsx';
import { useEditor, useErrors } from './editor_context.ts';
import type { Trigger } from './exits.ts';
import { EventField, FiltersField } from './fields.tsx';
import { ScheduleFields } from './schedule_fields.tsx';
import { ServerOnlyField } from './server_only.tsx';

const KINDS = [
  { value: 'event', label: 'An event happens' },
  { value: 'segment_entered', label: 'Somebody enters a segment' },
  { value: 'segment_left', label: 'Somebody leaves a segment' },
  { value: 'schedule', label: 'On a schedule, for a segment' },
  { value: 'manual', label: 'By hand: one person, or a segment' },
];

const newTrigger = (kind: Trigger['kind']): Trigger => {
  if (kind === 'event') return { kind, event: '', filters: [] };
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
        <>
          <EventField
            projectId={projectId}
            label="Event"
            value={trigger.event}
            onChange={(event) => set({ ...trigger, event })}
            error={errorOf('event')}
          />
          <FiltersField
            label="Only when"
            value={trigger.filters}
            onChange={(filters) => set({ ...trigger, filters })}
            error={errorOf('filters')}
          />
          <ServerOnlyField
            value={trigger.source}
            onChange={(source) => set({ ...trigger, source })}
            error={errorOf('source')}
          />
        </>
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
