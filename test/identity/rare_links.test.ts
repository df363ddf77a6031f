// Lists of links that are few among many read those few, whether the plan knows what is asked for or not.
import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { listLinks } from '../../src/identity/link_queries.ts';
import type { LinkFilter } from '../../src/identity/link_queries.ts';
import { testDatabase } from '../support/database.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';
import type { PlanMode } from '../support/rows_read.ts';

const database = testDatabase();
const projectId = newId();
const LINKS = 5_000;
/** Of each rare kind; all of them among the oldest. */
const RARE = 8;
const PAGE = 3;

const insert = (from: number, to: number, kind: { source: string; status: string }) =>
  database.owner.query(
    `insert into identity.links (project_id, link_id, anonymous_identity_id, external_identity_id, anonymous_id,
       external_id, profile_id, anonymous_profile_id, source, key_type, status, reason, created_at, undone_at,
       undone_by)
     select project_id, ('00000000-0000-7000-8000-' || lpad(at::text, 12, '0'))::uuid, identity_id, identity_id, 'd',
       'p', profile_id, own_profile_id, $4, 'server', $5::text,
       case when $5 = 'refused' then 'linked_to_another' end, now(),
       case when $5 = 'undone' then now() end, case when $5 = 'undone' then 'server' end
     from identity.identities, generate_series($2::int, $3::int) as at
     where project_id = $1 and value = 'd' || at`,
    [projectId, from, to, kind.source, kind.status],
  );

beforeAll(async () => {
  const profileId = newId();
  await database.owner.query(
    'insert into profiles.profiles (project_id, profile_id, created_at, updated_at) values ($1, $2, now(), now())',
    [projectId, profileId],
  );
  await database.owner.query(
    `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
     select $1, gen_random_uuid(), 'anonymous', 'd' || at, $2, $2 from generate_series(1, $3::int) as at`,
    [projectId, profileId, LINKS],
  );
  const kinds = [
    { source: 'identify', status: 'refused' },
    { source: 'identify', status: 'undone' },
    { source: 'alias', status: 'active' },
    { source: 'console', status: 'active' },
    { source: 'alias', status: 'undone' },
  ];
  for (const [at, kind] of kinds.entries()) await insert(at * RARE + 1, (at + 1) * RARE, kind);
  await insert(kinds.length * RARE + 1, LINKS, { source: 'identify', status: 'active' });
  await database.owner.query('analyze identity.links');
});

/** A page of the list, and how many links were read for it. */
const list = async (mode: PlanMode, filter: Partial<LinkFilter>) => {
  const none = { beforeId: null, profileId: null, status: null };
  const asked = { projectId, table: 'identity.links', mode };
  const { answer: rows, read } = await withRowsRead(database, asked, (scope) =>
    listLinks(scope, { limit: PAGE, ...none, ...filter }),
  );
  return { rows, read };
};

describe.each(PLAN_MODES)('%s', (mode) => {
  test.each([
    [{ status: 'refused' }, RARE],
    [{ status: 'undone' }, 2 * RARE],
    [{ source: 'alias' }, 2 * RARE],
    [{ source: 'console' }, RARE],
    [{ source: 'alias', status: 'undone' }, RARE],
    [{ source: 'alias', status: 'active' }, RARE],
    [{ source: 'identify', status: 'refused' }, RARE],
  ] as const)('%o: page by page, and little else is read', async (kind, count) => {
    let beforeId: string | null = null;
    const found: string[] = [];
    for (;;) {
      const { rows, read } = await list(mode, { ...kind, beforeId });
      for (const row of rows) expect(row).toMatchObject(kind);
      expect(read).toBeLessThanOrEqual(PAGE + 2 * RARE);
      found.push(...rows.map(({ link_id }) => link_id));
      if (rows.length < PAGE) break;
      beforeId = rows.at(-1)?.link_id ?? null;
    }
    expect(found).toEqual(found.toSorted().toReversed());
    expect(found).toHaveLength(count);
  });

  test.each([{ status: 'active' }, { source: 'identify' }, {}] as const)(
    '%o: the newest are the first that are read',
    async (kind) => {
      const { rows, read } = await list(mode, kind);
      expect(rows).toHaveLength(PAGE);
      expect(read).toBe(PAGE);
    },
  );
});
