import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import {
  CLAIM_LEASE_SECONDS,
  claimKey,
  forgetRefused,
  keepAnswer,
  KEPT_HOURS,
  releaseClaim,
  renewClaim,
} from '../../src/base/idempotency.ts';
import type { Claim } from '../../src/base/idempotency.ts';
import { newId } from '../../src/base/ids.ts';
import type { Scope } from '../../src/base/db.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const ONE = Buffer.alloc(32, 1);
const OTHER = Buffer.alloc(32, 2);
const ANSWER = Buffer.from('sealed');
const IN_USE = { state: 'in_use', repetition_id: null, answer: null };
const REUSED = { state: 'reused', repetition_id: null, answer: null };

/** A key of a project of its own, and what can be done with it. */
const newKey = () => {
  const projectId = newId();
  const keyHash = randomBytes(32);
  const claim = async (fingerprint = ONE) => {
    const claimId = newId();
    const claimed = await claimKey(database.deps.db, projectId, { keyHash, claimId, fingerprint });
    return { ...claimed, claim: { keyHash, claimId } };
  };
  const write = (work: (scope: Scope, claim: Claim) => Promise<unknown>, by: Claim) =>
    inProject(database.deps, projectId, (scope) => work(scope, by));
  const answer = (by: Claim) => write((scope, own) => keepAnswer(scope, own, ANSWER), by);
  /** Moves the row's times back, as if so much time had passed. */
  const pass = (interval: string) =>
    database.owner.query(
      `update http.idempotency_keys
      set created_at = created_at - $2::interval, claimed_until = claimed_until - $2::interval
      where project_id = $1`,
      [projectId, interval],
    );
  return { projectId, keyHash, claim, write, answer, pass };
};

test('a new key is claimed, and its first claim is what its request is known by', async () => {
  const { claim } = newKey();
  const first = await claim();
  expect(first).toMatchObject({ state: 'claimed', repetition_id: first.claim.claimId });
});

test('while somebody runs the request, it is in use', async () => {
  const { claim } = newKey();
  await claim();
  expect(await claim()).toMatchObject(IN_USE);
});

test('an answered request is answered again, for as long as answers are kept', async () => {
  const { claim, answer, pass } = newKey();
  const first = await claim();
  await answer(first.claim);
  const again = { state: 'answered', repetition_id: first.repetition_id, answer: ANSWER };
  expect(await claim()).toMatchObject(again);
  await pass(`${KEPT_HOURS} hours - 1 minute`);
  expect(await claim()).toMatchObject(again);
});

test('a day later the key is as good as new, for any request', async () => {
  const { claim, answer, pass } = newKey();
  const first = await claim();
  await answer(first.claim);
  await pass(`${KEPT_HOURS} hours`);
  const later = await claim(OTHER);
  expect(later).toMatchObject({ state: 'claimed', repetition_id: later.claim.claimId });
  expect(later.repetition_id).not.toBe(first.repetition_id);
  expect(await claim(ONE)).toMatchObject(REUSED);
  expect(await claim(OTHER)).toMatchObject(IN_USE);
});

test('another request with the key is told so, whether the first still runs, failed or is answered', async () => {
  const { claim, write, answer } = newKey();
  const first = await claim();
  expect(await claim(OTHER)).toMatchObject(REUSED);
  await write(releaseClaim, first.claim);
  expect(await claim(OTHER)).toMatchObject(REUSED);
  const second = await claim();
  await answer(second.claim);
  expect(await claim(OTHER)).toMatchObject(REUSED);
});

test('a claim runs out, and the next one is known by the same repetition id', async () => {
  const { claim, pass } = newKey();
  const first = await claim();
  await pass(`${CLAIM_LEASE_SECONDS - 2} seconds`);
  expect(await claim()).toMatchObject(IN_USE);
  await pass('2 seconds');
  const second = await claim();
  expect(second).toMatchObject({ state: 'claimed', repetition_id: first.repetition_id });
  expect(await claim()).toMatchObject(IN_USE);
});

test('a renewed claim does not run out', async () => {
  const { claim, pass, write } = newKey();
  const first = await claim();
  await pass(`${CLAIM_LEASE_SECONDS - 1} seconds`);
  await write(renewClaim, first.claim);
  await pass(`${CLAIM_LEASE_SECONDS - 2} seconds`);
  expect(await claim()).toMatchObject(IN_USE);
});

test('a claim that ran out and was taken over has nothing to say any more', async () => {
  const { claim, pass, write, answer } = newKey();
  const first = await claim();
  await pass(`${CLAIM_LEASE_SECONDS} seconds`);
  await claim();
  await answer(first.claim);
  await write(renewClaim, first.claim);
  await write(releaseClaim, first.claim);
  await write(forgetRefused, first.claim);
  expect(await claim()).toMatchObject(IN_USE);
});

test('a request that was refused at once is forgotten; one that may have had an effect is not', async () => {
  const { claim, write } = newKey();
  const refused = await claim();
  await write(forgetRefused, refused.claim);
  const failed = await claim(OTHER);
  expect(failed).toMatchObject({ state: 'claimed', repetition_id: failed.claim.claimId });
  await write(releaseClaim, failed.claim);

  const retried = await claim(OTHER);
  expect(retried).toMatchObject({ state: 'claimed', repetition_id: failed.repetition_id });
  await write(forgetRefused, retried.claim);
  expect(await claim(OTHER), 'what the first try did would be done twice').toMatchObject(IN_USE);
});

test('an answer that is kept cannot be let go of', async () => {
  const { claim, write, answer } = newKey();
  const first = await claim();
  await answer(first.claim);
  await write(releaseClaim, first.claim);
  await write(renewClaim, first.claim);
  expect(await claim()).toMatchObject({ state: 'answered' });
});

test('a key is one project’s own', async () => {
  const { keyHash, claim } = newKey();
  await claim();
  const elsewhere = { keyHash, claimId: newId(), fingerprint: OTHER };
  expect(await claimKey(database.deps.db, newId(), elsewhere)).toMatchObject({ state: 'claimed' });
});

test('of many who claim a key at once, exactly one runs the request', async () => {
  for (let round = 0; round < 20; round += 1) {
    const { claim, write, pass } = newKey();
    const states = async () =>
      (await Promise.all(Array.from({ length: 8 }, () => claim()))).map(({ state }) => state);
    const one = ['claimed', ...Array<string>(7).fill('in_use')];
    expect((await states()).toSorted()).toEqual(one);
    await pass(`${CLAIM_LEASE_SECONDS} seconds`);
    expect((await states()).toSorted(), 'after it ran out').toEqual(one);
    await pass(`${KEPT_HOURS} hours`);
    const last = await claim(OTHER);
    const [, ...rest] = await Promise.all([
      write(forgetRefused, last.claim),
      ...Array.from({ length: 4 }, () => claim(OTHER)),
    ]);
    const claimed = rest.filter((result) => (result as { state: string }).state === 'claimed');
    expect(claimed.length, 'while it is forgotten').toBeLessThanOrEqual(1);
  }
});
