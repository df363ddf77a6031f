// A page of a state that most sends may have looks at so many, and says where to go on.
import { beforeAll, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { pageSends } from '../../src/delivery/send_log.ts';
import { testDatabase } from '../support/database.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';
import type { PlanMode } from '../support/rows_read.ts';

const database = testDatabase();
const projectId = newId();
const automationId = newId();
const SENDS = 4_000;
const LOOKED = 200;
/** One in ten expired; of the others all but the oldest were delivered. */
const UNDELIVERED = [1, 3];
const LIMIT = 5;
const idOf = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;

beforeAll(async () => {
  await database.owner.query(
    `insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, profile_id, provider_id,
       template_id, template_version, status, due_at, queued_at, expires_at, accepted_at, delivered_at)
     select $1, ('00000000-0000-7000-8000-' || lpad(at::text, 12, '0'))::uuid, $4, gen_random_uuid(), 's',
       gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1,
       case when at % 10 = 0 then 'expired' else 'accepted' end,
       now(), now(), now(), now(), case when at % 10 > 0 and at <> all ($3::int[]) then now() end
     from generate_series(1, $2::int) as at`,
    [projectId, SENDS, UNDELIVERED, automationId],
  );
  await database.owner.query('analyze delivery.sends');
});

type Query = Partial<Parameters<typeof pageSends>[1]>;

const page = async (mode: PlanMode, query: Query) => {
  const asked = { projectId, table: 'delivery.sends', mode };
  const { answer, read } = await withRowsRead(database, asked, (scope) =>
    pageSends(scope, { limit: LIMIT, lookedMax: LOOKED, ...query }),
  );
  return { ids: answer.items.map(({ id }) => id), cursor: answer.next_cursor, read };
};

describe.each(PLAN_MODES)('%s', (mode) => {
  test.each<[string, Query, number[]]>([
    ['a common state', { status: 'accepted' }, [3, 1]],
    ['the same of an automation', { status: 'accepted', automation_id: automationId }, [3, 1]],
    ['a rare state of another automation', { status: 'expired', automation_id: newId() }, []],
  ])('%s: page by page, each of few rows', async (_name, query, wanted) => {
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | null | undefined; cursor !== null; pages += 1) {
      const one = await page(mode, { ...query, ...(cursor === undefined ? {} : { cursor }) });
      found.push(...one.ids);
      expect(one.read).toBeLessThanOrEqual(SENDS / 5);
      ({ cursor } = one);
    }
    expect(found).toEqual(wanted.map(idOf));
    expect(pages).toBeGreaterThan(1);
  });

  test('what is common is on the first page, and nothing past it is read', async () => {
    const { ids, cursor, read } = await page(mode, { status: 'delivered' });
    expect(ids).toEqual([3_999, 3_998, 3_997, 3_996, 3_995].map(idOf));
    expect(cursor).not.toBeNull();
    expect(read).toBeLessThanOrEqual(4 * LIMIT);
  });
});

test.each([
  ['as many as are looked at', SENDS, true],
  ['one fewer', SENDS + 1, false],
])('%s: there is a next only where there may be more', async (_name, lookedMax, hasNext) => {
  const { items, next_cursor: next } = await inProject(database.deps, projectId, (scope) =>
    pageSends(scope, { limit: LIMIT, status: 'accepted', lookedMax }),
  );
  expect(items.map(({ id }) => id)).toEqual([3, 1].map(idOf));
  expect(next !== null).toBe(hasNext);
});
