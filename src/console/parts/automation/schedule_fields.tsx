import { Alert, List, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { When } from '../when.tsx';
import { useEditor, useErrors } from './editor_context.ts';
import type { Trigger } from './exits.ts';
import { localTimeInWords } from './words.ts';

type Schedule = Extract<Trigger, { kind: 'schedule' }>;
type Props = { trigger: Schedule; set: (next: Schedule) => void };

const ZONES = [
  { value: 'automation', label: 'Of the automation' },
  { value: 'person', label: 'Of each person' },
];

/** Lists the next times, as the server computes them. */
const Next = ({ isOfPeople }: { isOfPeople: boolean }) => {
  const { occurrences } = useEditor();
  if (occurrences.length === 0) return null;
  return (
    <Stack gap={4} role="group" aria-label="Next times">
      <Text size="sm" fw={500}>
        Next times
      </Text>
      <List size="sm" spacing={2}>
        {occurrences.map(({ occurrence, at }) => (
          <List.Item key={occurrence}>
            {localTimeInWords(occurrence)}
            {!isOfPeople && (
              <>
                {' '}
                (<When at={at} />)
              </>
            )}
          </List.Item>
        ))}
      </List>
    </Stack>
  );
};

/** The rate of a schedule. There is none with the zones of people. */
const PerHour = ({ trigger, set }: Props) => {
  const errorOf = useErrors('/trigger');
  if (trigger.zone === 'person' && trigger.per_hour === undefined) return null;
  return (
    <NumberInput
      label="People per hour"
      description="At most. Empty: as fast as possible."
      value={trigger.per_hour ?? ''}
      min={1}
      allowDecimal={false}
      onChange={(value) =>
        set({ ...trigger, per_hour: typeof value === 'number' ? value : undefined })
      }
      error={errorOf('per_hour')}
    />
  );
};

/** The fields of a schedule: time, rule, zone and rate. */
export const ScheduleFields = ({ trigger, set }: Props) => {
  const { definition } = useEditor();
  const errorOf = useErrors('/trigger');
  const isOfPeople = trigger.zone === 'person';
  return (
    <>
      <TextInput
        type="datetime-local"
        label="Start"
        value={trigger.start}
        onChange={({ currentTarget: { value } }) => set({ ...trigger, start: value })}
        error={errorOf('start')}
      />
      <TextInput
        label="Rule"
        description="For example FREQ=WEEKLY;BYDAY=MO. Empty: once."
        value={trigger.rule ?? ''}
        onChange={({ currentTarget: { value } }) =>
          set({ ...trigger, rule: value === '' ? undefined : value })
        }
        error={errorOf('rule')}
      />
      <Select
        label="Time zone"
        data={ZONES}
        value={trigger.zone}
        onChange={(zone) => set({ ...trigger, zone: zone === 'person' ? 'person' : 'automation' })}
        allowDeselect={false}
        error={errorOf('zone')}
      />
      <PerHour trigger={trigger} set={set} />
      <Next isOfPeople={isOfPeople} />
      {trigger.rule !== undefined && definition.settings.re_entry === 'once' && (
        <Alert color="yellow" p="xs">
          Each person starts only once, even if the schedule repeats. To start people each time,
          change the re-entry rule in the settings.
        </Alert>
      )}
    </>
  );
};
