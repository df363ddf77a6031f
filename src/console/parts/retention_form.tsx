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
];

const WORDS = {
  wrong: NOT_WHOLE,
  submit: 'Change retention',
  done: 'Changed. Trunkline removes older data once a day.',
  ask: 'Owners change this.',
};

type Props = { projectId: string; settings: Settings; eventMonths: number };

/** How long the project keeps what it sent; owners change it. */
export const RetentionForm = ({ projectId, settings, eventMonths }: Props) => {
  const findLoss = (given: Settings) => {
    // The server refuses these.
    if (given.content_days < 1 || (given.sends_months ?? Infinity) < 2) return null;
    const months = (of: Settings) => of.sends_months ?? eventMonths;
    const parts = [
      ...(given.content_days < settings.content_days
        ? [`the content of emails that is older than ${counted(given.content_days, 'day')}`]
        : []),
      ...(months(given) < months(settings)
        ? [`sends that are older than ${counted(months(given), 'month')}, with their feedback`]
        : []),
    ];
    if (parts.length === 0) return null;
    const says = `Within a day Trunkline removes ${parts.join(', and ')}. This cannot be undone.`;
    return { says, sure: 'Yes, remove what is older' };
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
      // Without months, sends stay as long as events.
      read={(typed, name) =>
        name === 'sends_months' && typed === '' ? null : (toWhole(typed) ?? undefined)
      }
      words={WORDS}
      findLoss={findLoss}
      label="What was sent"
    />
  );
};
