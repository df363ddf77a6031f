// What providers tell, however often and in whatever order, ends in the same rows: 2,000 shuffles of recorded feedback.
import { beforeAll, expect, test } from 'vitest';
import { inProject, sql } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { dialects } from '../../src/feedback/dialects/dialects.ts';
import type { Source } from '../../src/feedback/dialects/dialects.ts';
import { record } from '../../src/feedback/feedback.ts';
import type { Notice } from '../../src/feedback/notice.ts';
import { writeSoftBouncesMax } from '../../src/feedback/soft_queries.ts';
import { newPerson, tell } from '../profiles/people.ts';
import { testDatabase } from '../support/database.ts';
import { projectTold } from './project_told.ts';
import { bodiesAbout } from './recorded_feedback.ts';
import { hasEmail, readAs } from './told.ts';

const database = testDatabase();
const SHUFFLES = 2_000;
const NOTICES_OF_A_CASE = 5;
/** Every order of a case is tried; orders that begin alike share their beginning. */
const ORDERS_OF_A_CASE = 120;
const AT_ONCE = 4;
const EMAILS = ['ann@example.net', 'bob@example.net'];
const SEED = Date.now() % 1_000_000_000;

/** Mulberry32: the same seed makes the same shuffles. */
const randomOf = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
};

const shuffle = <T>(items: readonly T[], random: (below: number) => number): T[] => {
  const shuffled = [...items];
  for (let at = shuffled.length - 1; at > 0; at -= 1) {
    const other = random(at + 1);
    [shuffled[at], shuffled[other]] = [shuffled[other] as T, shuffled[at] as T];
  }
  return shuffled;
};

type Told = { source: Source; notice: Notice };
type Place = { projectId: string; told: Told[] };

/** A project with a person and a send per address, the sends in the states in which feedback may find them. */
const makePlace = async (): Promise<Place> => {
  const { projectId, sends, keyOf } = projectTold(database);
  await sends.within((scope) => writeSoftBouncesMax(scope, 3));
  const told: Told[] = [];
  for (const [index, email] of EMAILS.entries()) {
    const person = await newPerson(database, projectId);
    await tell(database, person, { traits: { email } });
    const addressKey = await keyOf(email);
    const { profileId } = person;
    const given = { recipient: email, addressKey, profileId };
    const send = await sends.handingOff(given, 'amazon_ses');
    await sends.end(send.sendId, index === 0 ? 'unknown' : 'accepted', {
      reason: index === 0 ? 'outcome_unknown' : null,
    });
    await sends.update(send.sendId, "handed_off_at = '2026-11-20T09:59:00Z'");
    for (const [source, body] of bodiesAbout(email, send.sendId)) {
      const { notices } = await readAs(dialects[source], body);
      told.push(...notices.filter(hasEmail).map((notice) => ({ source, notice })));
    }
  }
  return { projectId, told };
};

/** Everything that feedback may change, without when and in which order we were told. */
const readEnd = async ({ tx, projectId }: Scope): Promise<string[]> => {
  const { rows } = await tx.query(sql.unsafe`
    select to_jsonb(send) - '{lease_until,due_at,queued_at,expires_at}'::text[] as row
    from delivery.sends as send where send.project_id = ${projectId}
    union all
    select jsonb_build_array(address_key, email, reason, source,
      case when reason = 'soft_bounces' then suppressed_at end)
    from suppression.addresses where project_id = ${projectId}
    union all
    select to_jsonb(notice) - 'received_at' from feedback.notices as notice where notice.project_id = ${projectId}
    union all
    select jsonb_build_array(profile_id, tags) from profiles.profiles where project_id = ${projectId}
    union all
    select jsonb_build_array(name, external_id, anonymous_id, properties, occurred_at) from ingest.events
    where project_id = ${projectId} and source = 'system'
  `);
  return rows.map((row) => JSON.stringify(row)).toSorted();
};

/** Rows of one end that the other has not. */
const differences = (a: string[], b: string[]): string[] => [
  ...a.filter((row) => !b.includes(row)),
  ...b.filter((row) => !a.includes(row)),
];

class Undone extends Error {}

/** What some work sees of a project, which is then as it was. */
const seeing = async <T>(scope: Scope, work: (inner: Scope) => Promise<T>): Promise<T> => {
  let seen: { value: T } | null = null;
  const working = scope.tx.transaction(async (tx) => {
    seen = { value: await work({ ...scope, tx }) };
    throw new Undone();
  });
  await working.catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error;
  });
  return (seen as unknown as { value: T }).value;
};

const tellOne = (scope: Scope, { source, notice }: Told) => record(scope, source, [notice]);

/** The end of a project that was told so. */
const endOf = (projectId: string, told: readonly Told[]): Promise<string[]> =>
  inProject(database.deps, projectId, (scope) =>
    seeing(scope, async (inner) => {
      for (const one of told) await tellOne(inner, one);
      return readEnd(inner);
    }),
  );

const places: Place[] = [];
beforeAll(async () => {
  for (let at = 0; at < AT_ONCE; at += 1) places.push(await makePlace());
});

type Case = { seed: number; expected: string[]; random: (below: number) => number; orders: number };

/** Tells the rest in every order after what was told, some of it again at the end, and compares the ends. */
const tryOrders = async (scope: Scope, one: Case, told: Told[], rest: Told[]): Promise<void> => {
  for (const next of rest) {
    const order = [...told, next];
    await seeing(scope, async (inner) => {
      await tellOne(inner, next);
      const left = rest.filter((other) => other !== next);
      if (left.length > 0) return tryOrders(inner, one, order, left);
      for (const again of shuffle(order, one.random).slice(0, one.random(3)))
        await tellOne(inner, again);
      one.orders += 1;
      const kinds = order.map(
        ({ source, notice }) => `${source} ${notice.kind} ${notice.occurredAt.toISOString()}`,
      );
      const said = `SEED=${SEED}, case ${one.seed}: ${kinds.join(', ')}`;
      expect(differences(await readEnd(inner), one.expected), said).toEqual([]);
    });
  }
};

/** Some of what was recorded about an address, told in every order. */
const tryCase = async ({ projectId, told }: Place, seed: number): Promise<Case> => {
  const random = randomOf(seed);
  const email = EMAILS[random(EMAILS.length)];
  const about = told.filter(({ notice }) => notice.email.toLowerCase() === email);
  const some = shuffle(about, random).slice(0, NOTICES_OF_A_CASE);
  const one = { seed, random, orders: 0, expected: await endOf(projectId, some) };
  await inProject(database.deps, projectId, (scope) => tryOrders(scope, one, [], some));
  return one;
};

test(
  `feedback ends in the same rows in any order, with duplicates (SEED=${SEED})`,
  { timeout: 600_000 },
  async () => {
    const seeds = Array.from(
      { length: Math.ceil(SHUFFLES / ORDERS_OF_A_CASE) },
      (_, at) => SEED + at,
    );
    const cases: Case[] = [];
    const work = async (place: Place, index: number) => {
      for (const seed of seeds.filter((_, at) => at % AT_ONCE === index))
        cases.push(await tryCase(place, seed));
    };
    await Promise.all(places.map(work));
    expect(cases.reduce((sum, { orders }) => sum + orders, 0)).toBeGreaterThanOrEqual(SHUFFLES);
    expect(new Set(cases.map(({ expected }) => expected.join())).size).toBeGreaterThan(
      seeds.length / 2,
    );
  },
);

test('all that was recorded, told in whole posts, ends in the same rows', async () => {
  const [{ projectId, told }] = places as [Place];
  const expected = await endOf(projectId, told);
  const random = randomOf(SEED);
  const some = told.filter(() => random(2) === 0);
  const together = await inProject(database.deps, projectId, (scope) =>
    seeing(scope, async (inner) => {
      for (const part of [shuffle(some, random), [...told, ...told]])
        for (const [source, of] of Map.groupBy(part, (one) => one.source))
          await record(
            inner,
            source,
            of.map(({ notice }) => notice),
          );
      return readEnd(inner);
    }),
  );
  expect(differences(together, expected), `SEED=${SEED}`).toEqual([]);
});

test('all that was recorded, told in opposite orders, ends in the same rows', async () => {
  const [{ projectId, told }] = places as [Place];
  const expected = await endOf(projectId, told);
  const opposite = await endOf(projectId, [...told.toReversed(), ...told]);
  expect(differences(opposite, expected)).toEqual([]);
  for (const word of ['complaint', 'email_bounced', 'email_opened', 'email_unsubscribed'])
    expect(expected.join()).toContain(word);
});
