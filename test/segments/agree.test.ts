import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { inProject, sql } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { compile, compileWakes } from '../../src/segments/compile.ts';
import { countedBy } from '../../src/segments/conditions.ts';
import { evaluate } from '../../src/segments/evaluate.ts';
import type { Explained, Person } from '../../src/segments/evaluate.ts';
import { dayOf, DAY_MS, readMoment, toDate } from '../../src/segments/moments.ts';
import type { Definition, Leaf } from '../../src/segments/schema.ts';
import { testDatabase } from '../support/database.ts';
import {
  definitionsOf,
  EVENTS,
  FILTERS,
  moments,
  TAGS,
  TODAY,
  TRAITS,
  values,
} from './arbitrary.ts';
import { z } from 'zod';

const database = testDatabase();
const projectId = newId();
const segmentIds = [newId(), newId()];
const SEED = 20_260_131;
const PEOPLE = 150;

const conditions = EVENTS.flatMap((event) =>
  FILTERS.flatMap((where) => [
    countedBy({ kind: 'event', event, where, count: { is: 'at_least', value: 1 }, within_days: 1 }),
    countedBy({ kind: 'event', event, where, count: { is: 'at_least', value: 1 } }),
  ]),
);

const counters = fc
  .array(
    fc.record({
      condition: fc.constantFrom(...conditions),
      dayBefore: fc.integer({ min: -1, max: 40 }),
      count: fc.integer({ min: 1, max: 3 }),
      identity: fc.constantFrom(0, 1),
      hours: fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 23 })),
    }),
    { maxLength: 14 },
  )
  .map((all) => [
    ...new Map(
      all.map((one) => {
        const { conditionId, isDaily } = one.condition;
        const day = isDaily ? TODAY - one.dayBefore : 0;
        const at = (hour: number) => new Date((TODAY - one.dayBefore) * DAY_MS + hour * 3_600_000);
        const counter = {
          identity: one.identity,
          condition_id: conditionId,
          day,
          count: one.count,
          first_at: at(Math.min(...one.hours)),
          last_at: at(Math.max(...one.hours)),
        };
        return [`${one.identity}/${conditionId}/${day}`, counter] as const;
      }),
    ).values(),
  ]);

const people = fc.record({
  email: fc.constantFrom('ann@example.com', null),
  traits: fc.dictionary(fc.constantFrom(...TRAITS), values, { minKeys: 2 }),
  tags: fc.oneof(fc.constant([]), fc.subarray([...TAGS, 'soft_bounced'])),
  counters,
  importedInto: fc.subarray(segmentIds).map((ids) => new Set(ids)),
  segmentIds: fc.subarray(segmentIds).map((ids) => new Set(ids)),
});

const kept = new Map<string, Person>();

const keep = async (
  person: typeof people extends fc.Arbitrary<infer T> ? T : never,
): Promise<void> => {
  const profileId = newId();
  const ids = [newId(), newId()];
  const { owner } = database;
  await owner.query(
    `insert into profiles.profiles (project_id, profile_id, email, traits, tags, created_at, updated_at)
     values ($1, $2, $3, $4, $5, now(), now())`,
    [projectId, profileId, person.email, JSON.stringify(person.traits), person.tags],
  );
  for (const id of ids)
    await owner.query(
      `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
       values ($1, $2::uuid, 'anonymous', $2::uuid::text, $3, $3)`,
      [projectId, id, profileId],
    );
  for (const one of person.counters)
    await owner.query(
      `insert into segments.counters (project_id, identity_id, condition_id, day, count, first_at, last_at)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [
        projectId,
        ids[one.identity],
        one.condition_id,
        toDate(one.day),
        one.count,
        one.first_at,
        one.last_at,
      ],
    );
  for (const id of person.segmentIds)
    await owner.query(
      `insert into segments.members (project_id, segment_id, profile_id, entered_at) values ($1, $2, $3, now())`,
      [projectId, id, profileId],
    );
  for (const id of person.importedInto)
    await owner.query(
      'insert into segments.imported (project_id, segment_id, identity_id, import_id) values ($1, $2, $3, $2)',
      [projectId, id, ids[1]],
    );
  // As they come back out of a jsonb column.
  kept.set(profileId, { ...person, traits: JSON.parse(JSON.stringify(person.traits)) });
};

beforeAll(async () => {
  await database.owner.query("select set_config('trunkline.project_id', $1, false)", [projectId]);
  for (const id of segmentIds) {
    await database.owner.query(
      `insert into segments.segments (project_id, segment_id, name, kind, status, version, created_at, updated_at)
       values ($1, $2, 'a', 'static', 'ready', 1, now(), now())`,
      [projectId, id],
    );
    await database.owner.query(
      `insert into segments.imports (project_id, segment_id, import_id, people, imported_at)
       values ($1, $2, $2, 0, now())`,
      [projectId, id],
    );
  }
  for (const person of fc.sample(people, { seed: SEED, numRuns: PEOPLE })) await keep(person);
});

const Row = z.strictObject({
  profile_id: z.uuid(),
  is_member: z.boolean(),
  wake_on: z.string().nullable(),
});

const ask = (definition: Definition, today: number) =>
  inProject(database.deps, projectId, ({ tx }) => {
    const place = { projectId, today };
    const wakes = [sql.fragment`null::date`, ...compileWakes(definition, place)];
    return tx.any(sql.type(Row)`
      select profile.profile_id, ${compile(definition, place)} as is_member,
        least(${sql.join(wakes, sql.fragment`, `)})::text as wake_on
      from profiles.profiles as profile where profile.project_id = ${projectId}
    `);
  });

const explainTo = (definition: Definition, profileId: string, today: number) => {
  const person = kept.get(profileId);
  if (!person) throw new Error('nobody');
  return evaluate(definition, person, today);
};
const definitions = definitionsOf(segmentIds, segmentIds);

/** What a leaf asks, without with what. */
const nameOf = (leaf: Leaf): string => {
  if (leaf.kind === 'trait') return `trait ${leaf.test.is}`;
  if (leaf.kind === 'event_time') return `${leaf.occurrence} event ${leaf.test.is}`;
  if (leaf.kind !== 'event') return leaf.kind;
  return `event ${leaf.count.is} ${leaf.within_days === undefined ? 'ever' : 'in a window'}`;
};
type Truths = Map<string, { true: number; false: number }>;
const tally = (truths: Truths, { condition, holds, of = [] }: Explained): void => {
  for (const part of of) tally(truths, part);
  if (!condition) return;
  const counted = truths.get(nameOf(condition)) ?? { true: 0, false: 0 };
  counted[holds ? 'true' : 'false'] += 1;
  truths.set(nameOf(condition), counted);
};
/** Everything that a leaf may ask, and how often each way it was at least answered in a run. */
const LEAVES = 34;
const ANSWERS_MIN = 50;

test('what is compiled and what explains one person agree on everybody', async () => {
  const truths: Truths = new Map();
  const seen = { members: 0, others: 0, excluded: 0 };
  const property = fc.asyncProperty(definitions, async (definition) => {
    const rows = await ask(definition, TODAY);
    for (const { profile_id, is_member } of rows) {
      const { isMember, isExcluded, where } = explainTo(definition, profile_id, TODAY);
      expect(isMember, JSON.stringify(kept.get(profile_id))).toBe(is_member);
      seen[is_member ? 'members' : 'others'] += 1;
      if (isExcluded && where.holds) seen.excluded += 1;
      tally(truths, where);
    }
  });
  await fc.assert(property, { seed: SEED, numRuns: 1_000 });
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(2_000);
  const least = [...truths].map(([name, said]) => [Math.min(said.true, said.false), name] as const);
  console.log('the rarest answers of leaves:', least.toSorted(([a], [b]) => a - b).slice(0, 3));
  // A leaf that always says the same is one that was not tested.
  const rare = [...truths].filter(([, said]) => Math.min(said.true, said.false) < ANSWERS_MIN);
  expect(rare).toEqual([]);
  expect(truths.size).toBe(LEAVES);
}, 180_000);

test('nobody comes or goes by the passing of time alone on a day before their wake-up', async () => {
  const property = fc.asyncProperty(
    definitions,
    fc.integer({ min: 1, max: 400 }),
    async (definition, later) => {
      for (const { profile_id, is_member, wake_on } of await ask(definition, TODAY)) {
        const wake = wake_on === null ? Infinity : dayOf(Date.parse(wake_on));
        expect(wake).toBeGreaterThan(TODAY);
        if (TODAY + later < wake)
          expect(explainTo(definition, profile_id, TODAY + later).isMember).toBe(is_member);
      }
    },
  );
  await fc.assert(property, { seed: SEED, numRuns: 200 });
}, 120_000);

test('a moment is read alike by both', async () => {
  const all = fc.sample(fc.oneof(moments, values), { seed: SEED, numRuns: 500 });
  const { rows } = await database.owner.query<{ ms: string | null }>(
    `select extract(epoch from segments.read_moment(told.value)) * 1000 as ms
     from unnest($1::jsonb[]) with ordinality as told (value, at) order by told.at`,
    [all.map((value) => JSON.stringify(value))],
  );
  expect(rows.map(({ ms }) => (ms === null ? null : Number(ms)))).toEqual(all.map(readMoment));
});
