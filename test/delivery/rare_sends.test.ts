// Lists of sends that are few among many read those few, whether the plan knows what is asked for or not.
import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { listSends } from '../../src/delivery/log_queries.ts';
import { testDatabase } from '../support/database.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';

const database = testDatabase();
const projectId = newId();
const SENDS = 5_000;
/** Of each rare kind; all of them among the oldest. */
const RARE = 8;
const KINDS = ['rejected', 'unknown', 'suppressed', 'bounced', 'complained'] as const;

beforeAll(async () => {
  await database.owner.query(
    `insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, profile_id, provider_id,
       template_id, template_version, status, due_at, queued_at, expires_at, accepted_at, bounced_at, complained_at)
     select $1, ('00000000-0000-7000-8000-' || lpad(at::text, 12, '0'))::uuid, gen_random_uuid(), gen_random_uuid(),
       's', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1,
       case when kind = any ('{rejected,unknown,suppressed}') then kind else 'accepted' end, now(), now(), now(),
       now(), case when kind = 'bounced' then now() end, case when kind = 'complained' then now() end
     from (
       select at, ($4::text[])[(at - 1) / $3::int + 1] as kind from generate_series(1, $2::int) as at
     ) as numbered`,
    [projectId, SENDS, RARE, KINDS],
  );
  await database.owner.query('analyze delivery.sends');
});

const list = (mode: (typeof PLAN_MODES)[number], status: string | null) =>
  withRowsRead(database, { projectId, table: 'delivery.sends', mode }, (scope) =>
    listSends(scope, { limit: RARE + 1, status }),
  );

describe.each(PLAN_MODES)('%s', (mode) => {
  test.each(KINDS)('%s: those few are read', async (status) => {
    const { answer, read } = await list(mode, status);
    expect(answer.map((send) => send.shown_status)).toEqual(Array<string>(RARE).fill(status));
    expect(read).toBeLessThanOrEqual(KINDS.length * RARE);
  });

  test.each(['accepted', null])('%s: the newest are the first that are read', async (status) => {
    const { answer, read } = await list(mode, status);
    expect(answer).toHaveLength(RARE + 1);
    expect(read).toBe(RARE + 1);
  });
});
