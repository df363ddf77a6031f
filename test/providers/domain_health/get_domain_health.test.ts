import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../src/base/ids.ts';
import { Resources } from '../../../src/base/resources.ts';
import { createProject } from '../../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../../support/api.ts';
import { testDatabase } from '../../support/database.ts';
import { keepProvider } from '../../support/kept_provider.ts';
import { startNameServer } from '../../support/name_server.ts';

const database = testDatabase();
/** The same service, told of a name server of its own. */
const named = {} as typeof database;
let server: Awaited<ReturnType<typeof startNameServer>>;
beforeAll(async () => {
  server = await startNameServer({
    'shop.test': { TXT: ['v=spf1 include:elsewhere.test -all'], MX: [[10, 'mx.shop.test']] },
    'mx.shop.test': { A: ['192.0.2.1'] },
    'elsewhere.test': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
    '_dmarc.shop.test': { TXT: ['v=DMARC1; p=reject; rua=mailto:a@shop.test'] },
  });
  const config = { ...database.deps.config, dnsServers: [server.address] };
  Object.assign(named, database, {
    deps: { ...database.deps, config, resources: new Resources() },
  });
});
afterAll(() => server.close());
const api = testApi(named);

const path = (providerId: string, query = '') =>
  `/v1/email-providers/${providerId}/domain-health${query}`;
const get = (providerId: string, query = '', key = api.project.server_key) =>
  api.call('GET', path(providerId, query), { key });

test('200: says of each what is there, what is wrong and what to publish', async () => {
  const providerId = newId();
  await keepProvider(named, api.project.project_id, providerId);
  const answer = await get(providerId, '?dkim_selectors=s1,s2');
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    domain: 'shop.test',
    status: 'bad',
    spf: { status: 'good', found: ['v=spf1 include:elsewhere.test -all'] },
    dkim: [
      { selector: 's1', status: 'bad' },
      { selector: 's2', status: 'bad' },
    ],
    dmarc: { status: 'good' },
    alignment: { status: 'warning', code: 'aligned_spf' },
    replies: { status: 'good' },
  });
  expect(server.asked).toContain('s2._domainkey.shop.test');
});

test('400: what is no selector is not asked for', async () => {
  const providerId = newId();
  await keepProvider(named, api.project.project_id, providerId, 'a@other.test');
  const before = server.asked.length;
  for (const query of ['s1;s2', '..', 'a b', '-a', `${'a'.repeat(64)}`])
    expectRefusal(
      await get(providerId, `?dkim_selectors=${encodeURIComponent(query)}`),
      'invalid_request',
    );
  expect(server.asked).toHaveLength(before);
});

test('404: a provider of another project, and one that there is not', async () => {
  const providerId = newId();
  const other = await createProject(named.deps, 'other');
  await keepProvider(named, other.project_id, providerId);
  for (const id of [providerId, newId(), 'x']) expectRefusal(await get(id), 'not_found');
  expect((await get(providerId, '', other.server_key)).status).toBe(200);
});
