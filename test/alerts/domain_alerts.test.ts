// The daily check of a sender's domain alerts the owner once when it got worse, and once it is as good as before.
import { beforeEach, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { pageAlerts } from '../../src/alerts/shown.ts';
import { createProject } from '../../src/projects/projects.ts';
import checkDomains from '../../tasks/providers/check_domains.ts';
import { makeProvider, mend, withNameServer } from '../providers/domain_health/named.ts';
import { testDatabase } from '../support/database.ts';
import { asWorker } from '../support/work_on.ts';

const database = testDatabase();
const named = withNameServer(database);
let projectId = '';
beforeEach(async () => {
  mend(named);
  await named.owner.query('delete from providers.providers');
  projectId = (await createProject(named.deps, 'of its own')).project_id;
});

const list = async (status: 'open' | 'all' = 'open') =>
  (await inProject(named.deps, projectId, (scope) => pageAlerts(scope, { status, limit: 50 })))
    .items;
const check = async () => {
  await named.owner.query(
    "update providers.domain_checks set next_check_at = now() - interval '1 ms'",
  );
  await checkDomains(asWorker(named))({}, undefined as never);
};

test('opens with the first record that got worse, names each, and resolves when all are back', async () => {
  const { provider_id: id } = await makeProvider(named, projectId);
  await check();
  expect(await list()).toEqual([]);
  named.zone['_dmarc.shop.test'] = {};
  await check();
  await check();
  expect(await list()).toMatchObject([
    {
      kind: 'domain_worse',
      subject: { type: 'provider', id },
      summary: expect.stringContaining('shop.test'),
      details: { findings: ['dmarc'] },
    },
  ]);
  named.zone['s1._domainkey.shop.test'] = {};
  await check();
  expect(await list()).toMatchObject([
    { details: { findings: expect.arrayContaining(['dkim:s1', 'dmarc']) } },
  ]);
  mend(named);
  await check();
  expect(await list()).toEqual([]);
  expect(await list('all')).toMatchObject([{ status: 'resolved' }]);
});

test('resolves when the provider sends from another domain', async () => {
  const row = await makeProvider(named, projectId);
  await check();
  named.zone['_dmarc.shop.test'] = {};
  await check();
  expect(await list()).toHaveLength(1);
  await named.owner.query(
    `update providers.providers set from_email = 'hello@other.test' where provider_id = $1`,
    [row.provider_id],
  );
  await check();
  expect(await list()).toEqual([]);
});
