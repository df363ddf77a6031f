import type { Deps } from '../base/deps.ts';
import { normaliseEmail } from '../base/email_address.ts';
import { toOrigin } from '../base/origin.ts';
import { consume, describeWait, limitsWithin, restore, slotOf } from '../base/rate_limits.ts';
import type { Charge, Exceeded } from '../base/rate_limits.ts';
import { Refusal } from '../base/refusal.ts';
import { findKnownDevice } from './devices.ts';
import type { Presented } from './devices.ts';
import { makePasswordQueues } from './password_queues.ts';
import { inTurnOfAttempts } from './sign_in_turns.ts';

// Postgres counts wrong passwords for all processes together. Strangers share limits with strangers only: they take
// nothing from a browser that signed in before, and nothing from a session that is open.

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

const limit = limitsWithin(PASSWORD_WINDOW_SECONDS);
const PER_ORIGIN = limit('sign_ins_per_origin', SIGN_INS_PER_ORIGIN_MAX);
const PER_ACCOUNT_AND_ORIGIN = limit(
  'sign_ins_per_account_and_origin',
  SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX,
);
const PER_ACCOUNT = limit('sign_ins_per_account', SIGN_INS_PER_ACCOUNT_MAX);
const PER_DEVICE = limit('sign_ins_per_device', SIGN_INS_PER_DEVICE_MAX);
const PER_SESSION = limit('confirmations_per_session', CONFIRMATIONS_PER_SESSION_MAX);

type ThrottleDeps = Pick<Deps, 'db' | 'keys' | 'resources'> & Parameters<typeof findKnownDevice>[0];
type Attempt = {
  charges: readonly Charge[];
  /** The attempts that share places: of one person, or of one origin of strangers. */
  line: string;
  isKnown: boolean;
  refuse: (exceeded: Exceeded) => Refusal;
};

/**
 * Makes one attempt. It is charged before the password is checked, so that many at once cannot slip through. `check`
 * returns null for a wrong password. A right one is not charged, nor is one that could not be checked.
 */
const attempt = async <T>(
  deps: ThrottleDeps,
  { charges, line, isKnown, refuse }: Attempt,
  check: () => Promise<T | null>,
): Promise<T | null> => {
  const { db } = deps;
  const queues = deps.resources.of(makePasswordQueues, deps);
  const consumed = await inTurnOfAttempts(deps, { line, isKnown }, () => consume(db, charges));
  if (consumed.exceeded) throw refuse(consumed.exceeded);
  let isWrong = false;
  try {
    const answer = await queues[isKnown ? 'known' : 'strangers'].run(line, check);
    isWrong = answer === null;
    return answer;
  } finally {
    if (!isWrong) await restore(db, consumed.receipt);
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

/** Returns the charges of a stranger. The origin comes first: one past its limit charges no account. */
const chargesOf = ({ keys }: ThrottleDeps, { email, address }: Presented): Charge[] => {
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
  signIn: Presented,
  check: () => Promise<T | null>,
): Promise<T | null> => {
  const device = await findKnownDevice(deps, signIn);
  // The id stays when the token changes, so no sign-in of another account brings new guesses.
  const charges = device ? [{ limit: PER_DEVICE, key: device.device_id }] : chargesOf(deps, signIn);
  const line = device?.person_id ?? toOrigin(signIn.address);
  const isKnown = device !== null;
  return attempt(deps, { charges, line, isKnown, refuse: tooManySignIns }, check);
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
  { sessionHash, personId }: { sessionHash: Buffer; personId: string },
  check: () => Promise<T | null>,
): Promise<T | null> => {
  const charges = [{ limit: PER_SESSION, key: sessionHash.toString('base64') }];
  const attempted = { charges, line: personId, isKnown: true, refuse: tooManyConfirmations };
  return attempt(deps, attempted, check);
};
