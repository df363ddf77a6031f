import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import {
  CIRCUIT_FAILURES,
  CIRCUIT_GROWTH,
  CIRCUIT_OPEN_SECONDS,
} from '../../src/providers/circuit.ts';
import { allow, setPlan, spend } from '../../src/providers/pace.ts';
import { findState } from '../../src/providers/pace_state.ts';
import type { Plan } from '../../src/providers/pace.ts';
import {
  BARE_MINUTES,
  giveBack,
  noteFailure,
  noteRefusals,
  noteSuccess,
  noteThrottled,
  noteWords,
} from '../../src/providers/pace_notes.ts';
import { dayOf } from '../../src/providers/ramp.ts';
import { connectTo } from '../base/connections.ts';
import { insertBareProvider } from '../support/bare_provider.ts';
import { testDatabase } from '../support/database.ts';
import { used } from './used.ts';

const OWNER = 'worker-1';
const database = testDatabase();
const today = dayOf(Date.now());

/** A provider of a project of its own, at a pace. */
const pacedProvider = async (plan: Partial<Plan> = {}) => {
  const [projectId, providerId] = [newId(), newId()];
  await insertBareProvider(database, projectId, providerId);
  const within = <T>(work: (scope: Scope) => Promise<T>) =>
    inProject(database.deps, projectId, work);
  await within((scope) =>
    setPlan(scope, providerId, { rate_per_second: null, ramp: null, ...plan }),
  );
  /** A claim that finds so many sends. */
  const claim = (found: number, kind: 'marketing' | 'transactional' | 'pages' = 'transactional') =>
    within(async (scope) => {
      const allowance = await allow(scope, providerId);
      const most = kind === 'transactional' ? Infinity : allowance[kind];
      const taken = Math.min(found, allowance.sends, most);
      await spend(scope, providerId, allowance, { taken, owner: OWNER });
      return { ...allowance, taken };
    });
  const read = async () =>
    (
      await database.owner.query('select * from providers.paces where provider_id = $1', [
        providerId,
      ])
    ).rows[0];
  const update = (set: string) =>
    database.owner.query(`update providers.paces set ${set} where provider_id = $1`, [providerId]);
  return { projectId, providerId, within, claim, read, update };
};

test('words of pages are left out from the first trouble on, until BARE_MINUTES have passed', async () => {
  const { within, claim, providerId, update } = await pacedProvider();
  const note = () => within((scope) => noteWords(scope, used(providerId)));
  expect(await claim(1)).toMatchObject({ isBare: false });
  expect([await note(), await note()]).toEqual([true, false]);
  expect(await claim(1)).toMatchObject({ taken: 1, limitedBy: null, isBare: true });
  const pass = (minutes: number, ms: number) =>
    update(`bare_until = bare_until - make_interval(mins => ${minutes}, secs => ${ms / 1_000})`);
  await pass(BARE_MINUTES - 1, 0);
  expect(await claim(1)).toMatchObject({ isBare: true });
  await pass(1, 0);
  expect(await claim(1)).toMatchObject({ isBare: false });
  expect(await note()).toBe(true);
  const ofOlder = { ...used(providerId), revision: -1 };
  await update('bare_until = null');
  expect(await within((scope) => noteWords(scope, ofOlder))).toBe(false);
});

test('without a limit a claim takes what there is, and nothing is written', async () => {
  const { claim, read } = await pacedProvider();
  expect(await claim(5_000)).toMatchObject({ taken: 5_000, limitedBy: null, everyMs: 0 });
  expect(await read()).toBe(undefined);
});

describe('a rate', () => {
  test('is shared by all claims: what one took, the next does not get', async () => {
    const { claim } = await pacedProvider({ rate_per_second: 10 });
    expect(await claim(100)).toMatchObject({ taken: 10, limitedBy: 'rate', everyMs: 100 });
    const next = await claim(100, 'marketing');
    expect(next.limitedBy).toBe('rate');
    expect(next.taken).toBeLessThan(10);
    expect(next.wakesInMs).toBeGreaterThan(0);
    expect(next.wakesInMs).toBeLessThanOrEqual(1_000);
  });

  test('gives away no more than a claim found', async () => {
    const { claim } = await pacedProvider({ rate_per_second: 10 });
    expect(await claim(1)).toMatchObject({ taken: 1 });
    expect((await claim(100)).taken).toBeGreaterThanOrEqual(8);
  });

  test('who claims at the same moment is told so at once, and waits for nobody', async () => {
    const { claim, projectId, providerId } = await pacedProvider({ rate_per_second: 10 });
    await claim(1);
    const other = await connectTo(database, projectId);
    await other.query('begin');
    const hold =
      'select from providers.paces where project_id = $1 and provider_id = $2 for update';
    await other.query(hold, [projectId, providerId]);
    expect(await claim(10)).toMatchObject({ taken: 0, limitedBy: 'busy' });
    await other.query('rollback');
    expect((await claim(10)).taken).toBeGreaterThanOrEqual(9);
  });

  test('however slow, is no pause: only a provider asks for one', async () => {
    const { claim, within, providerId, update } = await pacedProvider({ rate_per_second: 0.01 });
    expect((await claim(9)).taken).toBe(1);
    const pause = async () => (await within((scope) => findState(scope, providerId)))?.pause;
    expect(await pause()).toBeNull();
    expect(await claim(9)).toMatchObject({ taken: 0, limitedBy: 'rate' });
    // Taught long ago, and faster than what is configured.
    await update("learned_rate = 5, learned_at = now() - interval '1 day'");
    expect(await pause()).toBeNull();
    await within((scope) => setPlan(scope, providerId, { rate_per_second: 100, ramp: null }));
    expect(await pause()).toBeNull();
  });

  test('is halved by throttled answers, once in a burst, with a pause, and recovers', async () => {
    const { claim, within, providerId, update } = await pacedProvider({ rate_per_second: 100 });
    for (let burst = 0; burst < 3; burst += 1)
      await within((scope) => noteThrottled(scope, used(providerId), 40, 5_000));
    expect(await within((scope) => findState(scope, providerId))).toMatchObject({
      rate: expect.closeTo(20, 0),
    });
    expect(await claim(10)).toMatchObject({ taken: 0, limitedBy: 'pause' });
    await update("next_at = now() - interval '1 ms', learned_at = now() - interval '1 hour'");
    expect((await within((scope) => findState(scope, providerId)))?.rate).toBe(100);
    expect((await claim(1_000)).taken).toBeGreaterThan(90);
  });
});

type Within = Awaited<ReturnType<typeof pacedProvider>>['within'];
const fail = (within: Within, providerId: string, isProbe: boolean) =>
  within((scope) => noteFailure(scope, used(providerId), { isProbe, random: 1 }));

describe('a circuit', () => {
  const opened = async () => {
    const provider = await pacedProvider();
    const { within, providerId } = provider;
    const open: (number | null)[] = [];
    for (let failure = 0; failure < CIRCUIT_FAILURES; failure += 1)
      open.push(await fail(within, providerId, false));
    return { ...provider, open };
  };

  test('opens after so many failures, and then nobody gets anything', async () => {
    const { open, claim } = await opened();
    expect(open.slice(0, -1).every((ms) => ms === null)).toBe(true);
    expect(open.at(-1)).toBe(15_000);
    expect(await claim(10)).toMatchObject({ taken: 0, limitedBy: 'circuit' });
  });

  test('lets one probe through when its time has come, until it is known what became of that', async () => {
    const { claim, update } = await opened();
    await update("opened_until = now() - interval '1 ms'");
    expect(await claim(10)).toMatchObject({ taken: 1, limitedBy: 'circuit' });
    expect(await claim(10)).toMatchObject({ taken: 0, limitedBy: 'circuit' });
  });

  test('a probe that was not made is the next one’s', async () => {
    const { within, providerId, claim, update } = await opened();
    await update("opened_until = now() - interval '1 ms'");
    expect(await claim(1)).toMatchObject({ taken: 1 });
    await within((scope) => giveBack(scope, providerId, { sends: 1, isProbe: true }));
    expect(await claim(10)).toMatchObject({ taken: 1, limitedBy: 'circuit', isProbe: true });
  });

  test('the probe of an owner who died is the next one’s, and nobody else’s is', async () => {
    const { within, providerId, claim, update } = await opened();
    const die = (owner: string) =>
      within((scope) =>
        giveBack(scope, providerId, { sends: 0, isProbe: false, deadOwners: [owner] }),
      );
    await update("opened_until = now() - interval '1 ms'");
    expect(await claim(1)).toMatchObject({ taken: 1 });
    await die('worker-2');
    expect(await claim(1)).toMatchObject({ taken: 0, limitedBy: 'circuit' });
    await die(OWNER);
    expect(await claim(1)).toMatchObject({ taken: 1, isProbe: true });
  });

  test('a probe that was answered is not given back: whoever made it may die', async () => {
    const { within, providerId, claim, update, read } = await opened();
    await update("opened_until = now() - interval '1 ms'");
    await claim(1);
    await fail(within, providerId, true);
    await within((scope) =>
      giveBack(scope, providerId, { sends: 0, isProbe: false, deadOwners: [OWNER] }),
    );
    expect(await claim(1)).toMatchObject({ taken: 0, limitedBy: 'circuit' });
    await update("opened_until = now() - interval '1 ms'");
    await claim(1);
    expect(await read()).toMatchObject({ probed_by: OWNER });
    await within((scope) => noteSuccess(scope, providerId));
    expect(await read()).toMatchObject({ probed_by: null });
  });

  test('a probe that finds nothing to send leaves the next one free', async () => {
    const { claim, update } = await opened();
    await update("opened_until = now() - interval '1 ms'");
    expect(await claim(0)).toMatchObject({ taken: 0 });
    expect(await claim(10)).toMatchObject({ taken: 1 });
  });

  test('closes with a success, and opens for longer with another failure', async () => {
    const { within, providerId, claim, update } = await opened();
    await update("opened_until = now() - interval '1 ms'");
    expect(await fail(within, providerId, true)).toBe(
      CIRCUIT_OPEN_SECONDS * CIRCUIT_GROWTH * 1_000,
    );
    await within((scope) => noteSuccess(scope, providerId));
    expect(await claim(10)).toMatchObject({ taken: 10, limitedBy: null });
    expect(await within((scope) => findState(scope, providerId))).toMatchObject({
      circuit: 'closed',
    });
  });

  test('many that fail at once open it once: what began before it opened says nothing new', async () => {
    const { within, providerId, read } = await pacedProvider();
    const lanes = Array.from({ length: 8 }, () => fail(within, providerId, false));
    expect((await Promise.all(lanes)).filter((ms) => ms === null)).toHaveLength(4);
    expect((await read()).failure_count).toBe(CIRCUIT_FAILURES);
  });
});

describe('a ramp', () => {
  const ramp = { started_on: today, stages: [50, 500] };

  test('lets a day’s allowance through, then nothing until the next day', async () => {
    const { claim } = await pacedProvider({ ramp });
    expect(await claim(30)).toMatchObject({ taken: 30 });
    expect(await claim(30)).toMatchObject({ taken: 20, limitedBy: 'ramp' });
    const none = await claim(30);
    expect(none).toMatchObject({ taken: 0, limitedBy: 'ramp' });
    expect(none.wakesInMs).toBeLessThanOrEqual(24 * 3_600_000);
  });

  test('keeps a tenth of its day for transactional email', async () => {
    const { claim } = await pacedProvider({ ramp });
    expect(await claim(44, 'marketing')).toMatchObject({ taken: 44, ramped: null });
    expect(await claim(44, 'marketing')).toMatchObject({
      taken: 1,
      ramped: { marketing: false, pages: true },
    });
    const full = await claim(44, 'marketing');
    expect(full).toMatchObject({ taken: 0, sends: 5, ramped: { marketing: true } });
    expect(await claim(44)).toMatchObject({ taken: 5 });
    expect(await claim(44)).toMatchObject({ taken: 0, limitedBy: 'ramp' });
  });

  test('attack: pages use all of its day but a quarter', async () => {
    const { claim } = await pacedProvider({ ramp });
    expect(await claim(30, 'pages')).toMatchObject({ taken: 30, ramped: null });
    expect(await claim(30, 'pages')).toMatchObject({ taken: 7, ramped: null });
    const full = { all: false, marketing: false, pages: true };
    expect(await claim(30, 'pages')).toMatchObject({ taken: 0, sends: 13, ramped: full });
    expect(await claim(8, 'marketing')).toMatchObject({ taken: 8 });
    expect(await claim(30)).toMatchObject({ taken: 5, ramped: { ...full, marketing: true } });
    const over = { all: true, marketing: true, pages: true };
    expect(await claim(30)).toMatchObject({
      taken: 0,
      ramped: { ...over, until: expect.any(Date) },
    });
  });

  test('what was not handed over is given back', async () => {
    const { claim, within, providerId } = await pacedProvider({ ramp });
    await claim(50);
    await within((scope) => giveBack(scope, providerId, { sends: 7, isProbe: false }));
    expect(await claim(30)).toMatchObject({ taken: 7 });
  });

  test('a new day begins anew', async () => {
    const { claim, update } = await pacedProvider({ ramp });
    await claim(50);
    await update('ramp_day = ramp_day - 1');
    expect(await claim(100)).toMatchObject({ taken: 50 });
  });
});

test('refusals in a row that are recorded already are not written again; more of them are', async () => {
  const { within, providerId } = await pacedProvider();
  const refuse = (count: number) =>
    within((scope) => noteRefusals(scope, used(providerId), { digest: 'not today', count }));
  const readVersion = async () =>
    (
      await database.owner.query<{ xmin: string; refused_count: number }>(
        'select xmin::text, refused_count from providers.paces where provider_id = $1',
        [providerId],
      )
    ).rows[0];
  await refuse(2);
  const written = await readVersion();
  expect(written).toMatchObject({ refused_count: 2 });
  for (const count of [2, 1]) await refuse(count);
  expect(await readVersion()).toEqual(written);
  await refuse(3);
  expect(await readVersion()).toMatchObject({ refused_count: 3 });
});
