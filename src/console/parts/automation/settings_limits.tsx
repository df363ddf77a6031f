import { Group, NumberInput, Select, Switch, TextInput } from '@mantine/core';
import { useErrors } from './editor_context.ts';
import type { Settings } from './exits.ts';
import { DurationField } from './fields.tsx';
import { ZONES } from './wait_panels.tsx';

export type Part = { settings: Settings; set: (change: Partial<Settings>) => void };

export const QuietHours = ({ settings: { quiet_hours: quiet }, set }: Part) => {
  const errorOf = useErrors('/settings/quiet_hours');
  return (
    <>
      <Switch
        label="Quiet hours, where the person is"
        checked={quiet !== null}
        onChange={(event) =>
          set({ quiet_hours: event.currentTarget.checked ? { from: '21:00', to: '08:00' } : null })
        }
      />
      {quiet !== null && (
        <Group gap="xs" grow>
          <TextInput
            label="From"
            type="time"
            value={quiet.from}
            onChange={(event) =>
              set({ quiet_hours: { ...quiet, from: event.currentTarget.value } })
            }
            error={errorOf('from') ?? errorOf('')}
          />
          <TextInput
            label="To"
            type="time"
            value={quiet.to}
            onChange={(event) => set({ quiet_hours: { ...quiet, to: event.currentTarget.value } })}
            error={errorOf('to')}
          />
        </Group>
      )}
    </>
  );
};

const NEW_CAP = { sends: 3, per: 'P7D', of: 'project', over: 'defer' } as const;

export const Cap = ({ settings: { frequency_cap: cap }, set }: Part) => {
  const errorOf = useErrors('/settings/frequency_cap');
  const change = (next: Partial<NonNullable<typeof cap>>) =>
    set({ frequency_cap: { ...(cap ?? NEW_CAP), ...next } });
  return (
    <>
      <Switch
        label="At most so many mails to a person"
        checked={cap !== null}
        onChange={(event) => set({ frequency_cap: event.currentTarget.checked ? NEW_CAP : null })}
      />
      {cap !== null && (
        <>
          <NumberInput
            label="Mails"
            value={cap.sends}
            onChange={(sends) => change({ sends: Number(sends) || 0 })}
            min={1}
            allowDecimal={false}
            error={errorOf('sends')}
          />
          <DurationField
            label="Within"
            value={cap.per}
            onChange={(per) => change({ per })}
            error={errorOf('per')}
          />
          <Select
            label="Counted are mails of"
            data={[
              { value: 'project', label: 'all automations' },
              { value: 'automation', label: 'this automation' },
            ]}
            value={cap.of}
            onChange={(of) => change({ of: of === 'automation' ? 'automation' : 'project' })}
            allowDeselect={false}
          />
          <Select
            label="A mail too many"
            data={[
              { value: 'defer', label: 'waits until it may go' },
              { value: 'skip', label: 'is left out' },
            ]}
            value={cap.over}
            onChange={(over) => change({ over: over === 'skip' ? 'skip' : 'defer' })}
            allowDeselect={false}
          />
        </>
      )}
    </>
  );
};

export const Late = ({ settings, set }: Part) => {
  const errorOf = useErrors('/settings');
  const { late_events, expires_after, on_unknown, timezone } = settings;
  return (
    <>
      <Switch
        label="Events that arrive late start it, too"
        checked={late_events === 'accept'}
        onChange={(event) => set({ late_events: event.currentTarget.checked ? 'accept' : 'PT24H' })}
      />
      {late_events !== 'accept' && (
        <DurationField
          label="An event is late after"
          value={late_events}
          onChange={(next) => set({ late_events: next })}
          error={errorOf('late_events')}
        />
      )}
      <DurationField
        label="What is overdue expires after"
        value={expires_after}
        onChange={(next) => set({ expires_after: next })}
        error={errorOf('expires_after')}
      />
      <Select
        label="When nobody knows whether a mail was taken"
        data={[
          { value: 'hold', label: 'hold it until somebody decides' },
          { value: 'resend', label: 'send it again; it may arrive twice' },
        ]}
        value={on_unknown}
        onChange={(next) => set({ on_unknown: next === 'resend' ? 'resend' : 'hold' })}
        allowDeselect={false}
      />
      <Select
        label="Time zone of people who have none"
        data={ZONES.includes(timezone) ? ZONES : [timezone, ...ZONES]}
        value={timezone}
        onChange={(next) => set({ timezone: next ?? 'UTC' })}
        error={errorOf('timezone')}
        searchable
        allowDeselect={false}
      />
    </>
  );
};
