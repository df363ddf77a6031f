import type { Deps } from '../base/deps.ts';
import { normaliseEmail } from '../base/email_address.ts';
import { toOrigin } from '../base/origin.ts';
import { consume, describeWait, restore, slotOf } from '../base/rate_limits.ts';
import type { Charge, Exceeded, RateLimit } from '../base/rate_limits.ts';
import { Refusal } from '../base/refusal.ts';
import { findKnownDevice } from './devices.ts';
import { makePasswordQueues } from './password_queues.ts';
import type { PasswordQueue } from './password_queues.ts';
import { inTurnOfAttempts } from './sign_in_turns.ts';

// Wrong passwords are counted for all processes together. Strangers share limits with strangers only: what they try
// takes nothing from a browser that signed in before, and nothing from a session that is open.

export const PASSWORD_WINDOW_SECONDS = 15 * 60;
/** Wrong sign-ins within the window, from browsers that the account never signed in from. */
export const SIGN_INS_PER_ORIGIN_MAX = 30;
export const SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX = 10;
/** From all origins together: a botnet gets this many guesses. */
export const SIGN_INS_PER_ACCOUNT_MAX = 50;
/** From a browser that signed in to the account before: its own allowance. */
export const SIGN_INS_PER_DEVICE_MAX = 10;
/** Wrong confirmations within the window, inside one session. */
export const CONFIRMATIONS_PER_SESSION_MAX = 10;

const limit = (name: string, max: number): RateLimit => ({
  name,
  max,
  windowSeconds: PASSWORD_WINDOW_SECONDS,
});
const PER_ORIGIN = limit('sign_ins_per_origin', SIGN_INS_PER_ORIGIN_MAX);
const PER_ACCOUNT_AND_ORIGIN = limit(
  'sign_ins_per_account_and_origin',
  SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX,
);
const PER_ACCOUNT = limit('sign_ins_per_account', SIGN_INS_PER_ACCOUNT_MAX);
const PER_DEVICE = limit('sign_ins_per_device', SIGN_INS_PER_DEVICE_MAX);
const PER_SESSION = limit('confirmations_per_session', CONFIRMATIONS_PER_SESSION_MAX);

export type SignIn = { email: string; address: string; deviceToken: string | null };

type ThrottleDeps = Pick<Deps, 'db' | 'keys' | 'resources'> & Parameters<typeof findKnownDevice>[0];
type Attempt = {
  charges: readonly Charge[];
  /** Whose statements wait for each other, and whether these are no stranger's. */
  turn: Parameters<typeof inTurnOfAttempts>[1];
  queue: PasswordQueue;
  refuse: (exceeded: Exceeded) => Refusal;
};

/**
 * Makes one attempt. It is charged before the password is looked at, so that many at once cannot slip through. `check`
 * returns null for a wrong password. A right one is not charged, nor is one that could not be checked.
 */
const attempt = async <T>(
  deps: ThrottleDeps,
  { charges, turn, queue, refuse }: Attempt,
  check: () => Promise<T | null>,
): Promise<T | null> => {
  const { db } = deps;
  const exceeded = await inTurnOfAttempts(deps, turn, () => consume(db, charges));
  if (exceeded) throw refuse(exceeded);
  let isWrong = false;
  try {
    const answer = await queue.run(check);
    isWrong = answer === null;
    return answer;
  } finally {
    if (!isWrong) await restore(db, charges);
  }
};

/** Whose attempts they were, for the person who waits. Says the same of accounts that do not exist. */
const whose: Record<string, string> = {
  [PER_ORIGIN.name]: 'Too many wrong passwords came from your network.',
  [PER_ACCOUNT_AND_ORIGIN.name]:
    'Too many wrong passwords for this account came from your network.',
  [PER_ACCOUNT.name]: 'Too many wrong passwords for this account came from several networks.',
  [PER_DEVICE.name]: 'Too many wrong passwords for this account came from this browser.',
};
const ELSEWHERE = 'A browser that signed in to the account before can still sign in.';

const tooManySignIns = ({ limit: { name }, retryAfterSeconds }: Exceeded): Refusal => {
  const wait = `${whose[name] ?? ''} Try again in ${describeWait(retryAfterSeconds)}.`;
  const detail = name === PER_DEVICE.name ? wait : `${wait} ${ELSEWHERE}`;
  return new Refusal('too_many_sign_ins', { detail, retryAfterSeconds });
};

/** What a sign-in is charged. The origin comes first: one past its limit charges no account. */
const chargesOf = ({ keys }: ThrottleDeps, { email, address }: SignIn): Charge[] => {
  const [origin, account] = [toOrigin(address), normaliseEmail(email)];
  return [
    { limit: PER_ORIGIN, key: slotOf(keys, origin) },
    { limit: PER_ACCOUNT_AND_ORIGIN, key: slotOf(keys, `${origin} ${account}`) },
    { limit: PER_ACCOUNT, key: slotOf(keys, account) },
  ];
};

/** Attempts a sign-in; `check` returns null for a wrong one. */
export const attemptSignIn = async <T>(
  deps: ThrottleDeps,
  signIn: SignIn,
  check: () => Promise<T | null>,
): Promise<T | null> => {
  const queues = deps.resources.of(makePasswordQueues, deps);
  const device = await findKnownDevice(deps, signIn);
  const charges = device
    ? [{ limit: PER_DEVICE, key: device.toString('base64') }]
    : chargesOf(deps, signIn);
  const queue = device ? queues.known : queues.strangers;
  const turn = { line: toOrigin(signIn.address), isKnown: device !== null };
  return attempt(deps, { charges, turn, queue, refuse: tooManySignIns }, check);
};

const tooManyConfirmations = ({ retryAfterSeconds }: Exceeded): Refusal =>
  new Refusal('too_many_confirmations', {
    detail: `Too many wrong passwords in this session. Try again in ${describeWait(retryAfterSeconds)}, or sign out \
and sign in again.`,
    retryAfterSeconds,
  });

/** Attempts to confirm the password inside a session; `check` returns null for a wrong one. */
export const attemptConfirmation = <T>(
  deps: ThrottleDeps,
  sessionHash: Buffer,
  check: () => Promise<T | null>,
): Promise<T | null> => {
  const key = sessionHash.toString('base64');
  const charges = [{ limit: PER_SESSION, key }];
  const turn = { line: key, isKnown: true };
  const queue = deps.resources.of(makePasswordQueues, deps).known;
  return attempt(deps, { charges, turn, queue, refuse: tooManyConfirmations }, check);
};
