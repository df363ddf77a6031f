import type { Scope } from '../base/db.ts';
import { findHold, HOLDS } from '../providers/providers.ts';
import type { Hold } from '../providers/providers.ts';
import type { SendRow } from './log_queries.ts';
import { listSilences, SILENCE_FIX, SILENT_SECONDS } from './silences.ts';

/** What a send waits for besides its provider: each by its own `due_at`. */
const OWN_WAITS = [
  'retry',
  'resend',
  'quiet_hours',
  'frequency_cap',
  'unconfirmed_address',
  'recipient_cap',
  'unconfirmed_budget',
  'automation_paused',
] as const;
export const WAITS = [...HOLDS, 'provider_silent', ...OWN_WAITS] as const;

export type Wait = Omit<Hold, 'because'> & { because: (typeof WAITS)[number] };

type Limited =
  | 'quiet_hours'
  | 'frequency_cap'
  | 'unconfirmed_address'
  | 'recipient_cap'
  | 'unconfirmed_budget'
  | 'automation_paused'
  | 'ramp';
const LIMITED: Record<Limited, string> = {
  quiet_hours: 'It is quiet where the person is: it goes by itself when that is over.',
  frequency_cap:
    'The person has had as many mails as are allowed: it goes by itself when there is room.',
  unconfirmed_address:
    'Another mail to this address, which only a browser has said, is under way: it waits for what becomes of it.',
  recipient_cap:
    'Another email to this recipient is under way. It waits for the outcome of that one.',
  unconfirmed_budget:
    'Only a browser asserted this address, and the project has used its hourly budget for such email. ' +
    'It goes out by itself when there is room. An owner changes the budget in Settings → Sending limits.',
  automation_paused:
    'Its automation is paused. Resume that, and it goes on; cancel it if it must not go.',
  ramp: 'The warm-up allowed no more that day (UTC). Raise or end the ramp of the provider.',
};

const isLimited = (reason: string | null): reason is Limited =>
  reason !== null && Object.hasOwn(LIMITED, reason);

const RESEND =
  'It is handed over again by itself then, unless feedback or somebody says before what became of it (`resolve`). ' +
  'Cancel it to stop that.';
const RETRY = 'It was not taken, and is handed over again by itself then.';

/** Of a wait that is no answer of the provider. */
const UNSAID = { reason: null, answer: null } as const;

/** What a send waits for by itself, whatever its provider allows. */
const ownWait = ({ shown_status, status_reason, due_at, is_resent }: SendRow): Wait | null => {
  if (is_resent) return { ...UNSAID, because: 'resend', until: due_at, fix: RESEND };
  if (shown_status !== 'queued' || due_at === null || due_at.getTime() <= Date.now()) return null;
  if (isLimited(status_reason))
    return { ...UNSAID, because: status_reason, until: due_at, fix: LIMITED[status_reason] };
  return { ...UNSAID, because: 'retry', reason: status_reason, until: due_at, fix: RETRY };
};

/** Whether a provider that holds a send up does so for longer than the send waits anyway. */
const isLonger = ({ because, until }: Hold, own: Wait): boolean =>
  because === 'provider_parked' ||
  (until !== null && until.getTime() > (own.until?.getTime() ?? Infinity));

/** That all which its provider was given is without an answer, and nothing new is given to it. */
const silenceOf = async (
  scope: Scope,
  { provider_id, shown_status, due_at }: SendRow,
): Promise<Wait | null> => {
  const dueFor = due_at === null ? 0 : Date.now() - due_at.getTime();
  if (shown_status !== 'queued' || dueFor < SILENT_SECONDS * 1_000) return null;
  const silence = (await listSilences(scope)).find((one) => one.provider_id === provider_id);
  if (!silence) return null;
  const fix =
    `The provider has answered none of its hand-offs under way (${silence.hand_offs}) since ` +
    `${silence.since.toISOString()}. ${SILENCE_FIX}`;
  return { ...UNSAID, because: 'provider_silent', until: null, fix };
};

/** What a send waits for just now, of its own or of its provider: what lasts longer. Null: for nothing. */
export const findWait = async (scope: Scope, row: SendRow): Promise<Wait | null> => {
  const own = ownWait(row);
  if (!own && row.shown_status !== 'queued') return null;
  const hold = await findHold(scope, row.provider_id);
  if (own && !(hold && isLonger(hold, own))) return own;
  const isBusy = hold === null || hold.because === 'rate';
  return isBusy ? ((await silenceOf(scope, row)) ?? hold) : hold;
};
