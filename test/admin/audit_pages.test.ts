// A page of the audit log reads about what it shows, whether the plan knows what is asked for or not.
import { beforeAll, describe, expect, test } from 'vitest';
import { listEntries } from '../../src/admin/audit_queries.ts';
import type { AuditFilter } from '../../src/admin/audit_queries.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testDatabase } from '../support/database.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';

const database = testDatabase();
const ENTRIES = 5_000;
/** By somebody who did little, and of what is seldom done; all of them among the oldest. */
const RARE = 8;
const SOMEBODY = '00000000-0000-4000-8000-000000000001';
/** Did every other thing, and never the one of the others. */
const BUSY = '00000000-0000-4000-8000-000000000002';
const idOf = (at: number) => `00000000-0000-7000-8000-${String(at).padStart(12, '0')}`;

let projectId: string;
beforeAll(async () => {
  projectId = (await createProject(database.deps, 'shop')).project_id;
  await database.owner.query(
    `insert into admin.audit (project_id, audit_id, at, actor_kind, actor_id, action, targets)
     select $1, ('00000000-0000-7000-8000-' || lpad(at::text, 12, '0'))::uuid, now(), 'person',
       case when at <= $3 then $4::uuid when at % 2 = 0 then $5::uuid else gen_random_uuid() end,
       case when at <= $3 then 'seldom' when at % 2 = 0 then 'busily' else 'often' end, '{}'
     from generate_series(1, $2::int) as at`,
    [projectId, ENTRIES, RARE, SOMEBODY, BUSY],
  );
  await database.owner.query('analyze admin.audit');
});

const none = { actorId: null, action: null, fromId: null, beforeId: null };

describe.each(PLAN_MODES)('%s', (mode) => {
  test.each<[Partial<AuditFilter>, number]>([
    [{ actorId: SOMEBODY }, RARE],
    [{ action: 'seldom' }, RARE],
    [{ action: 'seldom', actorId: SOMEBODY, fromId: idOf(2) }, RARE - 1],
    [{ action: 'seldom', beforeId: idOf(RARE) }, RARE - 1],
    [{ action: 'often' }, RARE + 1],
    [{ action: 'often', actorId: BUSY }, 0],
    [{ action: 'busily', actorId: BUSY }, RARE + 1],
    [{ beforeId: idOf(100) }, RARE + 1],
    [{ fromId: idOf(ENTRIES - 1) }, 2],
    [{}, RARE + 1],
  ])('%o', async (asked, count) => {
    const { answer, read } = await withRowsRead(
      database,
      { projectId, table: 'admin.audit', mode },
      (scope) => listEntries(scope, { limit: RARE + 1, ...none, ...asked }),
    );
    expect(answer).toHaveLength(count);
    expect(answer.map(({ audit_id }) => audit_id)).toEqual(
      answer
        .map(({ audit_id }) => audit_id)
        .toSorted()
        .toReversed(),
    );
    expect(read).toBeLessThanOrEqual(2 * RARE);
  });
});
