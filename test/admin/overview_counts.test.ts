// What an overview counts is what a look at each of the newest rows would, and indexes alone are read for it.
import { beforeAll, describe, expect, test } from 'vitest';
import { firstIdAt, newId } from '../../src/base/ids.ts';
import {
  countBetween as countSends,
  countProviderGone,
  countUnknown,
} from '../../src/delivery/count_queries.ts';
import { SEND_STATUSES } from '../../src/delivery/queries.ts';
import { countBetween as countEvents } from '../../src/ingest/queries.ts';
import { testDatabase } from '../support/database.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';

const database = testDatabase();
const projectId = newId();
const HOUR_MS = 3_600_000;
const HOURS = 24;
const ROWS = 3_000;
const now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + HOUR_MS / 2;
const ids = Array.from({ length: HOURS }, (_, at) =>
  firstIdAt(new Date((Math.floor(now / HOUR_MS) - HOURS + 1 + at) * HOUR_MS)),
);

/** The newest is the last. Some are older than what is asked about. */
const rows = Array.from({ length: ROWS }, (_, at) => ({
  id: firstIdAt(new Date(now - (ROWS - at) * 31_000)),
  status: at % 3 === 0 ? (SEND_STATUSES[at % SEND_STATUSES.length] ?? '') : 'accepted',
  isGone: at % 7 < 3,
  isBounced: at % 7 === 0,
  isComplained: at % 11 === 0,
}));

const NOT_ACCEPTED = ['rejected', 'not_sent', 'expired', 'failed_render'];

/** Which bucket an id is in, from 1 on; 0 is before the first. */
const bucketOf = (id: string): number => ids.filter((first) => first <= id).length;

beforeAll(async () => {
  const column = <Value>(of: (row: (typeof rows)[number]) => Value) => rows.map(of);
  const at = (isSo: boolean) => (isSo ? new Date() : null);
  await database.owner.query(
    `insert into suppression.addresses (project_id, address_key, email) values ($1, sha256('a'), 'ann@example.com')`,
    [projectId],
  );
  await database.owner.query(
    `insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, profile_id, provider_id,
       template_id, template_version, status, status_reason, due_at, queued_at, expires_at, address_key, recipient,
       accepted_at, bounced_at, complained_at)
     select $1, id, gen_random_uuid(), gen_random_uuid(), 's', gen_random_uuid(), gen_random_uuid(),
       gen_random_uuid(), 1, status, case when gone then 'provider_deleted' end, now(), now(), now(), sha256('a'),
       'ann@example.com',
       case status when 'accepted' then now() end, bounced_at, complained_at
     from unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::boolean[])
       as given (id, status, bounced_at, complained_at, gone)`,
    [
      projectId,
      column(({ id }) => id),
      column(({ status }) => status),
      column(({ isBounced }) => at(isBounced)),
      column(({ isComplained }) => at(isComplained)),
      column(({ status, isGone }) => status === 'cancelled' && isGone),
    ],
  );
  await database.owner.query(
    `insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, source)
     select $1, id, now(), now(), 'made', 'ann', 'server' from unnest($2::uuid[]) as given (id)`,
    [projectId, column(({ id }) => id)],
  );
  // Only what is on disk is visible to all.
  await database.owner.query('checkpoint');
  await database.owner.query('vacuum analyze delivery.sends');
  await database.owner.query('vacuum analyze ingest.events');
});

/** The newest of them that are asked about, so many at most, by their buckets. */
const byBucket = (rowsMax: number) =>
  Map.groupBy(
    rows.slice(-rowsMax).filter(({ id }) => bucketOf(id) > 0),
    ({ id }) => bucketOf(id),
  );
const inOrder = <Row extends { bucket: number }>(found: readonly Row[]): Row[] =>
  found.toSorted((a, b) => a.bucket - b.bucket);

describe.each(PLAN_MODES)('%s', (mode) => {
  test.each([ROWS, ROWS + 1, ROWS / 2, 2, 1])('the newest %i', async (rowsMax) => {
    const wanted = [...byBucket(rowsMax)].map(([bucket, those]) => {
      const count = (isSo: (row: (typeof rows)[number]) => boolean) => those.filter(isSo).length;
      return {
        bucket,
        sends: those.length,
        accepted: count(({ status }) => status === 'accepted'),
        bounced: count(({ isBounced }) => isBounced),
        complained: count(({ isComplained }) => isComplained),
        suppressed: count(({ status }) => status === 'suppressed'),
        not_accepted: count(({ status }) => NOT_ACCEPTED.includes(status)),
        not_accepted_bounced: count(
          ({ status, isBounced }) => isBounced && NOT_ACCEPTED.includes(status),
        ),
      };
    });
    expect(wanted.length).toBeGreaterThan(0);
    if (rowsMax >= ROWS) expect(wanted.some((row) => row.not_accepted_bounced > 0)).toBe(true);
    const sends = await withRowsRead(
      database,
      { projectId, table: 'delivery.sends', mode },
      (scope) => countSends(scope, ids, rowsMax),
    );
    expect(inOrder(sends.answer)).toEqual(wanted);
    expect(sends.read).toBe(0);
    const events = await withRowsRead(
      database,
      { projectId, table: 'ingest.events', mode },
      (scope) => countEvents(scope, ids, rowsMax),
    );
    expect(inOrder(events.answer)).toEqual(
      wanted.map(({ bucket, sends: count }) => ({ bucket, events: count })),
    );
  });

  test.each([1, 0, -1])('what is unknown, at most all of it and %i', async (more) => {
    const all = rows.filter(({ status }) => status === 'unknown').length;
    const unknown = await withRowsRead(
      database,
      { projectId, table: 'delivery.sends', mode },
      (scope) => countUnknown(scope, all + more),
    );
    expect(unknown.answer).toBe(all + Math.min(more, 0));
    expect(unknown.read).toBe(0);
  });

  test.each([ROWS, 40, 1])(
    'whose provider is gone, of the newest %i that were cancelled',
    async (max) => {
      const first = ids[0] ?? '';
      const newest = rows
        .filter(({ id, status }) => status === 'cancelled' && id >= first)
        .slice(-max);
      expect(newest.length).toBeGreaterThan(0);
      const gone = await withRowsRead(
        database,
        { projectId, table: 'delivery.sends', mode },
        (scope) => countProviderGone(scope, first, max),
      );
      const count = newest.filter(({ isGone }) => isGone).length;
      expect(gone.answer).toEqual({ count, isCapped: newest.length >= max });
      expect(gone.read).toBeLessThanOrEqual(newest.length);
    },
  );
});
