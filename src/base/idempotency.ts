import { z } from 'zod';
import { inProject, sql } from './db.ts';
import type { Db, Scope } from './db.ts';
import type { Deps } from './deps.ts';

/** How long an answer is given again to the same request. */
export const KEPT_HOURS = 24;
/** A claim runs out by itself when its process dies; a longer run renews it. */
export const CLAIM_LEASE_SECONDS = 10;
const FORGET_KEYS_MAX = 10_000;

/** A request's place in the table, and the claim of whoever runs it. */
export type Claim = { keyHash: Buffer; claimId: string };

const Claimed = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('claimed'), repetition_id: z.uuid(), answer: z.null() }),
  z.strictObject({
    state: z.literal('answered'),
    repetition_id: z.uuid(),
    answer: z.instanceof(Buffer),
  }),
  z.strictObject({
    state: z.enum(['reused', 'in_use']),
    repetition_id: z.null(),
    answer: z.null(),
  }),
]);
const Answered = z.strictObject({ answer: z.instanceof(Buffer) });

/** Claims a key for one run of its request, or says why there is nothing to run. One statement, one commit. */
export const claimKey = (
  db: Db,
  projectId: string,
  { keyHash, claimId, fingerprint }: Claim & { fingerprint: Buffer },
) =>
  db.one(sql.type(Claimed)`
    select state, repetition_id, answer
    from http.claim_key(
      project_id => ${projectId},
      key_hash => ${sql.binary(keyHash)},
      fingerprint => ${sql.binary(fingerprint)},
      claim_id => ${claimId},
      lease_seconds => ${CLAIM_LEASE_SECONDS},
      kept_hours => ${KEPT_HOURS}
    )
  `);

/** What was answered to this very request, or null: for one whose object is gone since. */
export const findAnswer = (
  { tx, projectId }: Scope,
  { keyHash, fingerprint }: { keyHash: Buffer; fingerprint: Buffer },
) =>
  tx.maybeOne(sql.type(Answered)`
    select answer from http.idempotency_keys
    where project_id = ${projectId} and key_hash = ${sql.binary(keyHash)}
    and fingerprint = ${sql.binary(fingerprint)} and answer is not null
    and created_at > now() - make_interval(hours => ${KEPT_HOURS})
  `);

/** Keeps the answer of a run, unless the claim has passed to somebody else. */
export const keepAnswer = ({ tx, projectId }: Scope, { keyHash, claimId }: Claim, answer: Buffer) =>
  tx.query(sql.unsafe`
    update http.idempotency_keys set answer = ${sql.binary(answer)}, claimed_until = null
    where project_id = ${projectId} and key_hash = ${sql.binary(keyHash)} and claim_id = ${claimId}
  `);

/** Keeps a claim for a run that takes longer than its lease. */
export const renewClaim = ({ tx, projectId }: Scope, { keyHash, claimId }: Claim) =>
  tx.query(sql.unsafe`
    update http.idempotency_keys set claimed_until = now() + make_interval(secs => ${CLAIM_LEASE_SECONDS})
    where project_id = ${projectId} and key_hash = ${sql.binary(keyHash)} and claim_id = ${claimId}
    and answer is null
  `);

/** Lets go of a claim whose run may have had an effect: the next try is known by the same repetition id. */
export const releaseClaim = ({ tx, projectId }: Scope, { keyHash, claimId }: Claim) =>
  tx.query(sql.unsafe`
    update http.idempotency_keys set claimed_until = null
    where project_id = ${projectId} and key_hash = ${sql.binary(keyHash)} and claim_id = ${claimId}
    and answer is null
  `);

/** Forgets a request that was refused at its first try: nothing came of it, and the key is free. */
export const forgetRefused = ({ tx, projectId }: Scope, { keyHash, claimId }: Claim) =>
  tx.query(sql.unsafe`
    delete from http.idempotency_keys
    where project_id = ${projectId} and key_hash = ${sql.binary(keyHash)}
    and claim_id = ${claimId} and repetition_id = ${claimId}
  `);

const deleteOldKeys = ({ tx, projectId }: Scope) =>
  tx.query(sql.unsafe`
    delete from http.idempotency_keys
    where project_id = ${projectId} and key_hash in (
      select old.key_hash from http.idempotency_keys as old
      where old.project_id = ${projectId} and old.created_at <= now() - make_interval(hours => ${KEPT_HOURS})
      and (old.claimed_until is null or old.claimed_until < now())
      limit ${FORGET_KEYS_MAX}
    )
  `);

/** Forgets a project's keys that are kept long enough, a bounded number per transaction; answers how many. */
export const forgetOldKeys = async (
  deps: Pick<Deps, 'db' | 'keys'>,
  projectId: string,
): Promise<number> => {
  let forgotten = 0;
  for (let isMore = true; isMore;) {
    const { rowCount } = await inProject(deps, projectId, deleteOldKeys);
    forgotten += rowCount;
    isMore = rowCount === FORGET_KEYS_MAX;
  }
  return forgotten;
};
