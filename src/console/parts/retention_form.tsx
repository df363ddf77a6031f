import { api } from '../api.ts';
import type { Outputs } from '../api.ts';
import { useChange } from '../changes.ts';
import { counted } from './counted.ts';
import { NOT_WHOLE, toWhole } from './form.ts';
import { NumberSettings } from './number_settings.tsx';
import type { NumberField } from './number_settings.tsx';

type Settings = Outputs['retention']['read']['settings'];

const FIELDS: readonly NumberField<Settings>[] = [
  {
    name: 'content_days',
    label: 'Days to keep what emails said',
    about: 'Subject, HTML, text, and what the provider answered. From 1 to 3,650.',
  },
  {
    name: 'sends_months',
    label: 'Months to keep sends (optional)',
    about:
      'With attempts, feedback events and what runs decided. From 2 to 120. Empty: as long as events.',
  },
  {
    name: 'runs_months',
    label: 'Months to keep ended runs (optional)',
    about: 'Each goes after its emails. From 2 to 120. Empty: as long as events.',
  },
  {
    name: 'anonymous_months',
    label: 'Months to keep anonymous people (optional)',
    about: 'Only people without events go. From 2 to 120. Empty: as long as events.',
  },
];

/** What goes after so many months. */
const LOST = {
  sends_months: (months: string) => `sends that are older than ${months}, with their feedback`,
  runs_months: (months: string) => `runs that ended more than ${months} ago`,
  anonymous_months: (months: string) => `anonymous people who had no event for ${months}`,
};
type Months = keyof typeof LOST;
const MONTHS: readonly Months[] = ['sends_months', 'runs_months', 'anonymous_months'];

const WORDS = {
  wrong: NOT_WHOLE,
  submit: 'Change retention',
  done: 'Changed. Daily and weekly jobs remove older data.',
  ask: 'Owners change this.',
};

type Props = { projectId: string; settings: Settings; eventMonths: number };

/** How long the project keeps its data; owners change it. */
export const RetentionForm = ({ projectId, settings, eventMonths }: Props) => {
  const findLoss = (given: Settings) => {
    // The server refuses these.
    if (given.content_days < 1 || MONTHS.some((name) => (given[name] ?? Infinity) < 2)) return null;
    const monthsOf = (of: Settings, name: Months) => of[name] ?? eventMonths;
    const parts = [
      ...(given.content_days < settings.content_days
        ? [`the content of emails that is older than ${counted(given.content_days, 'day')}`]
        : []),
      ...MONTHS.filter((name) => monthsOf(given, name) < monthsOf(settings, name)).map((name) =>
        LOST[name](counted(monthsOf(given, name), 'month')),
      ),
    ];
    if (parts.length === 0) return null;
    // That job is a weekly one.
    const isWeekly = monthsOf(given, 'anonymous_months') < monthsOf(settings, 'anonymous_months');
    const removes = `Within a ${isWeekly ? 'week' : 'day'} Trunkline removes ${parts.join(', and ')}.`;
    return { says: `${removes} This cannot be undone.`, sure: 'Yes, remove what is older' };
  };

  const change = useChange(projectId, ['retention'], (given: Settings) =>
    api.retention.change.mutate({ projectId, ...given }),
  );
  return (
    <NumberSettings
      projectId={projectId}
      fields={FIELDS}
      settings={settings}
      change={change}
      // Without months, they stay as long as events.
      read={(typed, name) =>
        name !== 'content_days' && typed === '' ? null : (toWhole(typed) ?? undefined)
      }
      words={WORDS}
      findLoss={findLoss}
      label="What the project decides"
    />
  );
};
