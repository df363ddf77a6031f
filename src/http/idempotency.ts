import { createHmac, hkdfSync } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../base/caller.ts';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import {
  CLAIM_LEASE_SECONDS,
  claimKey,
  findAnswer,
  forgetRefused,
  keepAnswer,
  releaseClaim,
  renewClaim,
} from '../base/idempotency.ts';
import type { Claim } from '../base/idempotency.ts';
import { newId } from '../base/ids.ts';
import { Refusal, refusals } from '../base/refusal.ts';
import { seal, unseal } from '../base/sealing.ts';
import { inTurnsOfNotes } from '../base/note_turns.ts';
import { inTurnOf, outOfTurn } from '../base/session_turns.ts';
import { STORED_ROW_BYTES } from '../ingest/ingest.ts';
import * as quotas from '../quotas/quotas.ts';

export const IDEMPOTENCY_KEY_CHARS_MAX = 255;
/** Visible ASCII: no blanks, no list of several. */
const KEY = new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_CHARS_MAX}}$`);
const RENEW_EVERY_MS = (CLAIM_LEASE_SECONDS * 1_000) / 3;
const RETRY_AFTER_SECONDS = 1;
const HASH_BYTES = 32;
const CONTEXT = 'http.idempotency_keys.answer/1';

/** The Idempotency-Key of a request, or null. Refuses one that is none. */
export const readIdempotencyKey = (headers: IncomingHttpHeaders): string | null => {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !KEY.test(key)) throw new Refusal('invalid_idempotency_key');
  return key;
};

/** A request that may come again: its key, within what the key counts, and what else it must agree in. */
export type Keyed = {
  projectId: string;
  key: string;
  /** Route and kind of credential. */
  scope: string;
  /** The address that was asked for, with its query. */
  url: string;
  body: Buffer;
};

export type Answer = { status: number; body: unknown };

/** What is kept of an answer, and the answer made of that: null when it has become nothing. */
export type Keeping = {
  keep: (body: unknown) => unknown;
  tell: (kept: unknown) => Promise<unknown>;
};
export const AS_GIVEN: Keeping = { keep: (body) => body, tell: (kept) => Promise.resolve(kept) };

type Secrets = { keyHash: Buffer; fingerprint: Buffer; sealing: Buffer };

/**
 * Everything that is kept follows from the key itself, which is not kept: without it neither the
 * request nor the answer can be read from the table, also not after somebody in them was erased.
 */
const toSecrets = ({ projectId, key, scope, url, body }: Keyed): Secrets => {
  const info = `trunkline/idempotency-key/${projectId}/${scope}`;
  const all = Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), info, 3 * HASH_BYTES));
  const [keyHash, printing, sealing] = [0, 1, 2].map((at) =>
    all.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  ) as [Buffer, Buffer, Buffer];
  const fingerprint = createHmac('sha256', printing).update(`${url}\n`).update(body).digest();
  return { keyHash, fingerprint, sealing };
};

const toSealed = ({ sealing }: Secrets, answer: Answer): Buffer =>
  seal(sealing, CONTEXT, Buffer.from(JSON.stringify(answer)));
const toAnswer = ({ sealing }: Secrets, sealed: Buffer): Answer =>
  JSON.parse(unseal(sealing, CONTEXT, sealed).toString()) as Answer;

/** An answer that was given before. Refuses when what it was about is gone. */
const tellAgain = async ({ tell }: Keeping, { status, body }: Answer): Promise<Answer> => {
  const told = await tell(body);
  if (told === null) throw new Refusal('not_found');
  return { status, body: told };
};

/** What was answered to the same request before, or null. Runs nothing and claims nothing. */
export const findKept = async (
  deps: Deps,
  keyed: Keyed,
  keeping: Keeping,
): Promise<Answer | null> => {
  const secrets = toSecrets(keyed);
  const row = await inProject(deps, keyed.projectId, (scope) => findAnswer(scope, secrets));
  return row && tellAgain(keeping, toAnswer(secrets, row.answer));
};

type Note = (
  what: string,
  write: (scope: Scope, claim: Claim) => Promise<unknown>,
) => Promise<void>;

/**
 * Writes about a claim. A write that fails, or finds no place to wait, is logged and dropped: the request is done, and
 * its claim ends with the lease. A renewal does not wait for a turn, or the lease could end meanwhile.
 */
const noteOn =
  (deps: Deps, projectId: string, claim: Claim): Note =>
  async (what, write) => {
    const own = write === renewClaim ? outOfTurn(deps) : inTurnsOfNotes(deps);
    try {
      await inProject(own, projectId, (scope) => write(scope, claim));
    } catch (error) {
      deps.log.warn({ err: error }, `idempotency key: ${what} failed`);
    }
  };

/** Whether the request itself is why it was refused: another try would be, too. */
export const wasRefused = (error: unknown): boolean =>
  error instanceof Refusal && refusals[error.reason].status < 500;

/** Runs a claimed request and keeps its answer. A refused one is forgotten, one that failed may be tried again. */
const runClaimed = async (
  note: Note,
  toKept: (answer: Answer) => Buffer,
  run: () => Promise<Answer>,
) => {
  const renewing = setInterval(() => void note('renewing', renewClaim), RENEW_EVERY_MS);
  try {
    const answer = await run();
    const sealed = toKept(answer);
    await note('keeping the answer', (scope, claim) => keepAnswer(scope, claim, sealed));
    return answer;
  } catch (error) {
    await note('letting go', wasRefused(error) ? forgetRefused : releaseClaim);
    throw error;
  } finally {
    clearInterval(renewing);
  }
};

/**
 * Answers a request that carries an Idempotency-Key: runs it once, and gives the answer again to the
 * same request for a day. `run` is told what the request is known by, the same at each try.
 */
export const answerOnce = async (
  deps: Deps,
  keyed: Keyed,
  run: (repetitionId: string) => Promise<Answer>,
  keeping: Keeping,
): Promise<Answer & { isReplayed: boolean }> => {
  const secrets = toSecrets(keyed);
  const claim = { keyHash: secrets.keyHash, claimId: newId() };
  const { fingerprint } = secrets;
  const claimed = await inTurnOf(deps.turns, keyed.projectId, () =>
    claimKey(deps.db, keyed.projectId, { ...claim, fingerprint }),
  );
  switch (claimed.state) {
    case 'reused':
      throw new Refusal('idempotency_key_reused');
    case 'in_use':
      throw new Refusal('idempotency_key_in_use', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    case 'answered':
      return {
        ...(await tellAgain(keeping, toAnswer(secrets, claimed.answer))),
        isReplayed: true,
      };
    case 'claimed': {
      const note = noteOn(deps, keyed.projectId, claim);
      const toKept = ({ status, body }: Answer): Buffer =>
        toSealed(secrets, { status, body: keeping.keep(body) });
      const answer = await runClaimed(note, toKept, () => run(claimed.repetition_id));
      return { ...answer, isReplayed: false };
    }
  }
};

/**
 * Runs a claimed request whose answer is kept, and counts that answer as stored bytes of a publishable key: a request
 * that stores nothing else keeps one, too.
 */
export const countKept = async (
  deps: Deps,
  caller: Caller,
  run: () => Promise<Answer>,
): Promise<Answer> => {
  const settle = await quotas.admit(deps, caller, { bytes: STORED_ROW_BYTES, pairs: [] });
  let storedBytes = 0;
  try {
    const answer = await run();
    storedBytes = STORED_ROW_BYTES;
    return answer;
  } finally {
    settle(storedBytes);
  }
};
