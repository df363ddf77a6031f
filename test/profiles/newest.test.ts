// A project's profiles, the newest first: who is merged or being erased is passed over, in bounded steps.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { LOOKED_AT_PER_ITEM, pageNewest } from '../../src/profiles/profiles.ts';
import { lookAtNewest } from '../../src/profiles/queries.ts';
import { testDatabase } from '../support/database.ts';
import { TRIAL } from '../support/recorded.ts';

const database = testDatabase();

/** So many people of a project, the oldest first; answers their ids. */
const make = async (projectId: string, people: number): Promise<string[]> => {
  const ids = Array.from({ length: people }, newId).toSorted();
  await database.owner.query(
    `insert into profiles.profiles (project_id, profile_id, email, created_at, updated_at)
     select $1, profile_id, profile_id || '@shop.test', now(), now() from unnest($2::uuid[]) as profile_id`,
    [projectId, ids],
  );
  return ids;
};
const mark = (projectId: string, column: 'merged_into' | 'erasure_id', ids: readonly string[]) =>
  database.owner.query(
    `update profiles.profiles set ${column} = $3 where project_id = $1 and profile_id = any ($2::uuid[])`,
    [projectId, ids, newId()],
  );

const page = async (projectId: string, limit: number, cursor?: string) => {
  const found = await inProject(database.deps, projectId, (scope) =>
    pageNewest(scope, { limit, cursor }),
  );
  return { ids: found.items.map(({ id }) => id), next: found.next_cursor ?? undefined };
};

test('the newest come first, page by page, each once, and nobody of another project', async () => {
  const [projectId, other] = [newId(), newId()];
  const ids = await make(projectId, 5);
  await make(other, 3);
  const newest = ids.toReversed();
  const first = await page(projectId, 2);
  const second = await page(projectId, 2, first.next);
  const third = await page(projectId, 2, second.next);
  expect([first.ids, second.ids, third.ids]).toEqual([
    newest.slice(0, 2),
    newest.slice(2, 4),
    newest.slice(4),
  ]);
  expect(third.next).toBeUndefined();
});

test('a project of nobody has an empty page, and no next', async () => {
  expect(await page(newId(), 20)).toEqual({ ids: [], next: undefined });
});

test('who was merged, and who is being erased, is left out', async () => {
  const projectId = newId();
  const [first = '', merged = '', second = '', erased = '', third = ''] = await make(projectId, 5);
  await mark(projectId, 'merged_into', [merged]);
  await mark(projectId, 'erasure_id', [erased]);
  expect(await page(projectId, 3)).toEqual({ ids: [third, second, first], next: undefined });
});

test('where nobody is shown among those looked at, the page ends, and the next goes on', async () => {
  const projectId = newId();
  const [oldest = '', ...others] = await make(projectId, LOOKED_AT_PER_ITEM + 1);
  await mark(projectId, 'merged_into', others);
  const first = await page(projectId, 1);
  expect(first).toEqual({ ids: [], next: expect.any(String) });
  expect((await page(projectId, 1, first.next)).ids).toEqual([oldest]);
});

type Plan = { [key: string]: unknown; Plans?: Plan[] };
const Explained = z.strictObject({ 'QUERY PLAN': z.tuple([z.looseObject({ Plan: z.unknown() })]) });
const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)];

test('they are read from the end of the primary key, and no more than are looked at', async () => {
  const projectId = newId();
  const ids = await make(projectId, 20_000);
  await make(newId(), 20_000);
  await mark(projectId, 'merged_into', ids.slice(0, 19_900));
  await database.owner.query('analyze profiles.profiles');
  for (const beforeId of [null, ids[10_000] ?? null]) {
    const plans = await inProject(database.deps, projectId, async (scope) => {
      const explaining = {
        any: async (query: Parameters<Scope['tx']['any']>[0]) => [
          await scope.tx.one({
            ...query,
            sql: `explain ${TRIAL} (analyze, format json) ${query.sql}`,
            parser: Explained,
          } as never),
        ],
      };
      const tx = explaining as unknown as Scope['tx'];
      const [row] = await lookAtNewest({ ...scope, tx }, { limit: 200, beforeId });
      return flatten(Explained.parse(row)['QUERY PLAN'][0].Plan as Plan);
    });
    const touching = plans.filter((plan) => plan['Relation Name'] === 'profiles');
    expect(touching).toMatchObject([
      { 'Index Name': 'profiles_pkey', 'Scan Direction': 'Backward', 'Actual Rows': 200 },
    ]);
    expect(touching[0]?.['Rows Removed by Filter'] ?? 0).toBe(0);
  }
});
