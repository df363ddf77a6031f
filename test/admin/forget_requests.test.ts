// Access requests that were decided, and invitations that ended, go two years later.
import { beforeEach, expect, test } from 'vitest';
import { AUDIT_MONTHS, FORGOTTEN_REQUESTS_MAX, forgetRequests } from '../../src/admin/audit_log.ts';
import { forgetRequestRows } from '../../src/admin/audit_queries.ts';
import { NEVER, testDatabase } from '../support/database.ts';

const database = testDatabase();
const AGO = `now() - interval '${AUDIT_MONTHS} months'`;

beforeEach(async () => {
  await database.owner.query('delete from admin.access_requests');
  await database.owner.query('delete from admin.invitations');
});

const ask = (email: string, status: string, decidedAt: string | null, copies = 1) =>
  database.owner.query(
    `insert into admin.access_requests (access_request_id, email, name, purpose, status, requested_at, decided_at)
    select gen_random_uuid(), copy || $1, 'Ann', 'Work', $2, ${AGO} - interval '1 year', ${decidedAt}
    from generate_series(1, $3) as copy`,
    [email, status, copies],
  );
const invite = (email: string, ended: 'accepted_at' | 'revoked_at' | 'expires_at', at: string) =>
  database.owner.query(
    `insert into admin.invitations (invitation_id, email, role, token_hash, created_at, expires_at, accepted_at,
      revoked_at)
    select gen_random_uuid(), $1::text, 'admin', sha256(convert_to($1::text, 'UTF8')), ${at} - interval '7 days',
      case when $2::text = 'expires_at' then ${at} else now() end,
      case when $2::text = 'accepted_at' then ${at} end, case when $2::text = 'revoked_at' then ${at} end`,
    [email, ended],
  );
const left = async (): Promise<string[]> =>
  (
    await database.owner.query<{ email: string }>(
      'select email from admin.access_requests union all select email from admin.invitations order by 1',
    )
  ).rows.map(({ email }) => email);

test('what ended two years ago goes, and what waits or ended since stays', async () => {
  await ask('old@a.test', 'refused', `${AGO} - interval '1 hour'`);
  await ask('young@a.test', 'approved', `${AGO} + interval '1 hour'`);
  await ask('waiting@a.test', 'waiting', null);
  for (const ended of ['accepted_at', 'revoked_at', 'expires_at'] as const) {
    await invite(`old_${ended}@b.test`, ended, `${AGO} - interval '1 hour'`);
    await invite(`young_${ended}@b.test`, ended, `${AGO} + interval '1 hour'`);
  }
  expect(await forgetRequests(database.deps, NEVER)).toBe(4);
  const young = ['accepted_at', 'expires_at', 'revoked_at'].map((one) => `young_${one}@b.test`);
  expect(await left()).toEqual(['1waiting@a.test', '1young@a.test', ...young]);
});

test('more than one transaction takes go all the same; a stop leaves the rest', async () => {
  await ask('@a.test', 'refused', `${AGO} - interval '1 hour'`, FORGOTTEN_REQUESTS_MAX + 1);
  expect(await forgetRequests(database.deps, AbortSignal.abort())).toBe(0);
  expect(await forgetRequestRows(database.deps.db, new Date(0), FORGOTTEN_REQUESTS_MAX)).toBe(0);
  expect(await forgetRequests(database.deps, NEVER)).toBe(FORGOTTEN_REQUESTS_MAX + 1);
});

test('whatever is asked for, two years stay', async () => {
  await ask('young@a.test', 'refused', `${AGO} + interval '1 hour'`);
  expect(await forgetRequestRows(database.deps.db, new Date(), FORGOTTEN_REQUESTS_MAX)).toBe(0);
});
