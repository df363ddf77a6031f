// POST …/domain-health checks and records; GET …/domain-health/history says what has changed.
import { beforeEach, expect, test } from 'vitest';
import { newId } from '../../../src/base/ids.ts';
import type { ProviderRow } from '../../../src/providers/queries.ts';
import { HISTORY_CHANGES_MAX, HISTORY_DAYS } from '../../../src/providers/domain_health/record.ts';
import { createProject } from '../../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../../support/api.ts';
import { testDatabase } from '../../support/database.ts';
import { KEY } from './domains.ts';
import { makeProvider, mend, withNameServer } from './named.ts';

const database = testDatabase();
const named = withNameServer(database);
const api = testApi(named);
let row: ProviderRow;

beforeEach(async () => {
  mend(named);
  api.project = await createProject(named.deps, 'of its own');
  row = await makeProvider(named, api.project.project_id);
});

const pathOf = (rest = '', id = row.provider_id) =>
  `/v1/email-providers/${id}/domain-health${rest}`;
const post = (body?: object, headers: Record<string, string> = {}) =>
  api.call('POST', pathOf(), {
    key: api.project.server_key,
    headers,
    ...(body ? { body } : {}),
  });
const history = async (query = '') => {
  const { body } = await api.call('GET', pathOf(`/history${query}`), {
    key: api.project.server_key,
  });
  return body;
};

test('200: the first check is the first entry, the same again adds none', async () => {
  const answer = await post({ dkim_selectors: ['s1'] });
  expect([answer.status, answer.body.status]).toEqual([200, 'good']);
  await post();
  const { items, next_cursor } = await history();
  expect(next_cursor).toBe(null);
  expect(items).toMatchObject([
    { domain: 'shop.test', status: 'good', is_worse: false, changes: { length: 6 } },
  ]);
  expect(items[0].changes[0]).toMatchObject({
    finding: 'spf',
    before: null,
    after: { status: 'good', code: 'spf_ok', found: ['v=spf1 ip4:192.0.2.25 -all'] },
  });
});

test('200: what got worse, and what is better again, is in the history, newest first', async () => {
  await post({ dkim_selectors: ['s1'] });
  named.zone['s1._domainkey.shop.test'] = { TXT: ['v=DKIM1; p='] };
  await post();
  mend(named);
  await post();
  const { items } = await history();
  expect(
    items.map(({ is_worse, status }: { is_worse: boolean; status: string }) => [is_worse, status]),
  ).toEqual([
    [false, 'good'],
    [true, 'bad'],
    [false, 'good'],
  ]);
  expect(items[1].changes).toMatchObject([
    { finding: 'dkim:s1', before: { code: 'dkim_ok' }, after: { code: 'dkim_revoked' } },
    { finding: 'alignment', before: { code: 'aligned_dkim' }, after: { code: 'aligned_spf' } },
  ]);
});

test('200: what to look for is stored, left out it stays, and null is the default again', async () => {
  named.zone['bounce.shop.test'] = { TXT: ['v=spf1 ip4:192.0.2.25 -all'] };
  const first = await post({
    dkim_selectors: [' s1 ', 's1._domainkey.shop.test', 's2'],
    mail_from_domain: 'Bounce.SHOP.test.',
  });
  expect(first.body.dkim.map(({ selector }: { selector: string }) => selector)).toEqual([
    's1',
    's2',
  ]);
  expect(first.body.mail_from.domain).toBe('bounce.shop.test');
  const again = await api.call('GET', pathOf(), { key: api.project.server_key });
  expect([again.body.dkim.length, again.body.mail_from.domain]).toEqual([2, 'bounce.shop.test']);
  const third = await post({ dkim_selectors: [], mail_from_domain: null });
  // The usual ones are tried again, and of those that were named only s1 was found.
  expect(third.body.dkim.map(({ selector }: { selector: string }) => selector)).toContain('s1');
  expect(third.body.mail_from.domain).toBe('shop.test');
});

test('200: of selectors that were tried, one that is gone is missed until others are named', async () => {
  const dkimOf = ({ body }: Awaited<ReturnType<typeof post>>) =>
    body.dkim.map(({ selector, code }: Record<string, string>) => `${selector} ${code}`);
  expect(dkimOf(await post())).toEqual(['s1 dkim_ok']);
  delete named.zone['s1._domainkey.shop.test'];
  named.zone['s2._domainkey.shop.test'] = { TXT: [KEY] };
  for (let time = 0; time < 2; time += 1)
    expect(dkimOf(await post())).toEqual(['s1 dkim_missing', 's2 dkim_ok']);
  expect(dkimOf(await post({ dkim_selectors: ['s2'] }))).toEqual(['s2 dkim_ok']);
  expect(dkimOf(await post({ dkim_selectors: [] }))).toEqual(['s2 dkim_ok']);
  expect(dkimOf(await post())).toEqual(['s2 dkim_ok']);
});

test('200: what an older version stored in another shape counts as no check', async () => {
  await post();
  await named.owner.query(
    `update providers.domain_checks set health = '{"old": 1}', known = '{"spf": 1}' where provider_id = $1`,
    [row.provider_id],
  );
  await named.owner.query(
    `update providers.domain_changes set changes = '[1]' where provider_id = $1`,
    [row.provider_id],
  );
  expect((await post()).status).toBe(200);
  expect(
    (await history()).items.map(({ changes }: { changes: unknown[] }) => changes.length),
  ).toEqual([6, 0]);
});

test('200: a GET keeps nothing', async () => {
  const key = api.project.server_key;
  expect((await api.call('GET', pathOf('?dkim_selectors=s1'), { key })).status).toBe(200);
  expect(await history()).toEqual({ items: [], next_cursor: null });
  const { rows } = await named.owner.query(
    'select from providers.domain_checks where project_id = $1',
    [api.project.project_id],
  );
  expect(rows).toHaveLength(0);
});

test('200: the same request again answers what it recorded, without another check', async () => {
  const headers = { 'idempotency-key': newId() };
  const first = await post({}, headers);
  const asked = named.server.asked.length;
  await named.owner.query('update http.idempotency_keys set answer = null, claimed_until = null');
  const again = await post({}, headers);
  expect(again.body).toEqual(first.body);
  expect(named.server.asked).toHaveLength(asked);
});

test('200: two at once record one after the other, and the history has each change once', async () => {
  const answers = await Promise.all([post(), post(), post()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await history()).items).toHaveLength(1);
});

test('200: another domain begins anew', async () => {
  await post({ dkim_selectors: ['s1'] });
  await named.owner.query(
    `update providers.providers set from_email = 'a@other.test' where provider_id = $1`,
    [row.provider_id],
  );
  const { body } = await post();
  expect(body).toMatchObject({ domain: 'other.test', status: 'bad' });
  expect((await history()).items[0]).toMatchObject({ domain: 'other.test', is_worse: false });
});

test('the history is read page by page', async () => {
  for (const at of [1, 2, 3]) {
    named.zone['_dmarc.shop.test'] = { TXT: [`v=DMARC1; p=reject; rua=mailto:a${at}@shop.test`] };
    await post();
  }
  const seen = [];
  for (let cursor = ''; ;) {
    const { items, next_cursor } = await history(`?limit=1${cursor}`);
    seen.push(...items.map(({ id }: { id: string }) => id));
    if (next_cursor === null) break;
    cursor = `&cursor=${next_cursor}`;
  }
  expect(seen).toEqual((await history()).items.map(({ id }: { id: string }) => id));
  expect(seen).toHaveLength(3);
});

test(`the history keeps ${HISTORY_CHANGES_MAX} changes and ${HISTORY_DAYS} days, and no more`, async () => {
  const insert = (count: number, daysAgo: number) =>
    named.owner.query(
      `insert into providers.domain_changes (project_id, provider_id, change_id, changed_at, domain, status, is_worse,
        changes)
      select $1, $2,
        ('0000' || lpad(to_hex(at::integer), 4, '0') || '-0000-7000-8000-' || lpad(to_hex($4::integer), 12, '0'))::uuid,
        now() - make_interval(days => $4::integer), 'shop.test', 'good', false, '[]'
      from generate_series(1, $3) as at`,
      [api.project.project_id, row.provider_id, count, daysAgo],
    );
  const count = async (): Promise<number> => {
    const { rows } = await named.owner.query<{ count: number }>(
      'select count(*)::integer from providers.domain_changes where provider_id = $1',
      [row.provider_id],
    );
    return rows[0]?.count ?? 0;
  };
  await insert(1, HISTORY_DAYS - 1);
  await insert(1, HISTORY_DAYS + 1);
  await post();
  expect(await count()).toBe(2);
  await insert(HISTORY_CHANGES_MAX, 1);
  named.zone['_dmarc.shop.test'] = {};
  await post();
  expect(await count()).toBe(HISTORY_CHANGES_MAX);
});

test('400: what is no selector or domain is not asked for', async () => {
  const before = named.server.asked.length;
  for (const body of [
    { dkim_selectors: ['s1;s2'] },
    { dkim_selectors: ['..'] },
    { dkim_selectors: [`${'a'.repeat(64)}`] },
    { mail_from_domain: 'a b' },
    { mail_from_domain: 'localhost' },
    { what: 1 },
  ])
    expectRefusal(await post(body), 'invalid_request');
  expect(named.server.asked).toHaveLength(before);
});

test('404: a provider of another project, and one that there is not', async () => {
  const other = await createProject(named.deps, 'other');
  const theirs = await makeProvider(named, other.project_id);
  for (const id of [theirs.provider_id, newId(), 'x'])
    for (const [method, rest] of [
      ['POST', ''],
      ['GET', '/history'],
    ] as const)
      expectRefusal(
        await api.call(method, pathOf(rest, id), { key: api.project.server_key }),
        'not_found',
      );
});

test('what is stored goes with the provider', async () => {
  await post();
  await api.call('DELETE', `/v1/email-providers/${row.provider_id}`, {
    key: api.project.server_key,
  });
  for (const table of ['domain_checks', 'domain_changes'])
    expect(
      (
        await named.owner.query(`select from providers.${table} where project_id = $1`, [
          api.project.project_id,
        ])
      ).rows,
    ).toEqual([]);
});
