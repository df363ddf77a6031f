// Marketing email through a provider outside the machine needs a PUBLIC_URL that readers can open.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { openLog } from '../../src/base/log.ts';
import { isPublic } from '../../src/base/public_address.ts';
import { createProject } from '../../src/projects/projects.ts';
import { isOutside, listOutside } from '../../src/providers/outside.ts';
import { networkOf } from '../../src/providers/network.ts';
import { warnOfLocalLinks } from '../../src/worker/local_links.ts';
import { counterparts, fieldsOf, KINDS, providersOf } from '../providers/counterparts.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const LOCAL = { publicUrl: 'http://127.0.0.1:3000', isPublicUrlSet: false };
const PUBLIC = { publicUrl: 'https://mail.example.com', isPublicUrlSet: true };

const OUTSIDE = '192.31.196.1';

const database = testDatabase();
const sinks = counterparts(database);
// Settings are frozen, so the service gets a copy that a test can change, as a restart would.
beforeAll(() => {
  database.deps = { ...database.deps, config: { ...database.deps.config } };
});
const setSite = (site: typeof LOCAL): void => void Object.assign(database.deps.config, site);
const api = testApi(database);
const { create } = providersOf(api);
beforeEach(async () => {
  setSite(LOCAL);
  api.project = await createProject(database.deps, 'its own');
});

const ask = (method: string, path: string, body: object = {}) =>
  api.call(method, path, {
    key: api.project.server_key,
    ...(method === 'GET' ? {} : { body }),
  });
/** Makes a provider be outside or inside, as saving it at another host would. */
const setOutside = (isIt: boolean | null, host = isIt ? OUTSIDE : '127.0.0.1') =>
  database.owner.query(
    `update providers.providers
    set is_outside = $2, smtp_host = case when provider = 'smtp' then $3 end
    where project_id = $1`,
    [api.project.project_id, isIt, host],
  );
const isSavedOutside = async () =>
  (
    await database.owner.query<{ is_outside: boolean | null }>(
      'select is_outside from providers.providers where project_id = $1',
      [api.project.project_id],
    )
  ).rows[0]?.is_outside;

/** A draft that sends one email through a provider outside. */
const makeDraft = async (settings: object = {}): Promise<string> => {
  const provider = await create(fieldsOf(sinks, 'smtp'));
  await setOutside(true);
  const template = await ask('POST', `/v1/projects/${api.project.project_id}/templates`, {
    name: 'Hello',
    subject: 'Hello',
    html: '<p>Hello</p><a href="{{ unsubscribe_url }}">Unsubscribe</a>',
  });
  const send = {
    kind: 'send_email',
    provider_id: provider.body.id,
    template_id: template.body.id,
    template_version: 1,
    next: null,
  };
  const { status, body } = await ask('POST', '/v1/automations', {
    name: 'Welcome',
    definition: {
      trigger: { kind: 'event', event: 'user_signed_up' },
      settings,
      entry: 'hello',
      steps: { hello: send },
    },
  });
  expect(status).toBe(201);
  return body.id as string;
};
const post = (id: string, act: string) => ask('POST', `/v1/automations/${id}/${act}`);
const ISSUES = [
  {
    path: '/definition/steps/hello/provider_id',
    message: expect.stringMatching(/^the step "hello" .* set PUBLIC_URL to the address/),
  },
];

describe('POST /v1/automations/{id}/activate', () => {
  test.each([
    ['not set', LOCAL],
    ['this machine', { publicUrl: 'http://localhost:3000', isPublicUrlSet: true }],
    ['this machine by IPv6', { publicUrl: 'http://[::1]:3000', isPublicUrlSet: true }],
  ])('409 public_url_required: PUBLIC_URL is %s', async (_, site) => {
    const id = await makeDraft();
    setSite(site);
    const refused = await post(id, 'activate');
    expect(expectRefusal(refused, 'public_url_required')).toEqual(ISSUES);
    expect((await ask('GET', `/v1/automations/${id}`)).body.status).toBe('draft');
  });

  test('200: with a PUBLIC_URL that readers can open', async () => {
    const id = await makeDraft();
    setSite(PUBLIC);
    expect((await post(id, 'activate')).body).toMatchObject({ status: 'active' });
  });

  test('200: transactional email', async () => {
    const id = await makeDraft({ category: 'transactional' });
    expect((await post(id, 'activate')).body).toMatchObject({ status: 'active' });
  });

  test('200: a provider inside', async () => {
    const id = await makeDraft();
    await setOutside(false);
    expect((await post(id, 'activate')).body).toMatchObject({ status: 'active' });
  });
});

describe('a provider that moved since its record was saved', () => {
  test('409 public_url_required: its name led inside, and leads outside now', async () => {
    const id = await makeDraft();
    await setOutside(false, OUTSIDE);
    expect(expectRefusal(await post(id, 'activate'), 'public_url_required')).toEqual(ISSUES);
    expect(await isSavedOutside()).toBe(true);
  });

  test('409 public_url_required: at resume, too, and where EGRESS_ALLOW_NETWORKS shrank', async () => {
    const id = await makeDraft();
    await setOutside(false);
    expect((await post(id, 'activate')).body).toMatchObject({ status: 'active' });
    await post(id, 'pause');
    const { egressAllowNetworks } = database.deps.config;
    Object.assign(database.deps.config, { egressAllowNetworks: ['10.0.0.0/8'] });
    try {
      expect(expectRefusal(await post(id, 'resume'), 'public_url_required')).toEqual(ISSUES);
    } finally {
      Object.assign(database.deps.config, { egressAllowNetworks });
    }
    expect((await post(id, 'resume')).body).toMatchObject({ status: 'active' });
  });

  test('200: it is inside now', async () => {
    const id = await makeDraft();
    await setOutside(true, '127.0.0.1');
    expect((await post(id, 'activate')).body).toMatchObject({ status: 'active' });
    expect(await isSavedOutside()).toBe(false);
  });

  test.each([true, false])(
    'a name that does not resolve changes nothing of what was saved: outside %s',
    async (isIt) => {
      const id = await makeDraft();
      await setOutside(isIt, 'nowhere.invalid');
      const { status } = await post(id, 'activate');
      expect([status, await isSavedOutside()]).toEqual([isIt ? 409 : 200, isIt]);
    },
  );
});

describe('an automation that is active when PUBLIC_URL is removed', () => {
  const makeActive = async (): Promise<string> => {
    const id = await makeDraft();
    setSite(PUBLIC);
    await post(id, 'activate');
    setSite(LOCAL);
    return id;
  };

  test('goes on, and is not resumed after a pause', async () => {
    const id = await makeActive();
    expect((await post(id, 'activate')).body).toMatchObject({ status: 'active' });
    await post(id, 'pause');
    expect(expectRefusal(await post(id, 'resume'), 'public_url_required')).toEqual(ISSUES);
    setSite(PUBLIC);
    expect((await post(id, 'resume')).body).toMatchObject({ status: 'active' });
  });

  test('is logged once at a start', async () => {
    const id = await makeActive();
    const lines: string[] = [];
    const log = openLog('warn', { write: (line: string) => void lines.push(line) });
    await warnOfLocalLinks({ ...database.deps, log });
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({
        project_id: api.project.project_id,
        automation_id: id,
        msg: expect.stringMatching(/set PUBLIC_URL$/),
      }),
    ]);
    setSite(PUBLIC);
    await warnOfLocalLinks({ ...database.deps, log });
    expect(lines).toHaveLength(1);
  });
});

describe('outside', () => {
  const isOut = (settings: Parameters<typeof isOutside>[0], cloudApiUrl: string | null = null) =>
    isOutside(settings, { ...networkOf(database.deps), cloudApiUrl });
  const cloud = {
    provider: 'cloud_api',
    region: 'eu-west-1',
    access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    secret_access_key: 'secret',
  } as const;

  test('is a host of which one address is in no network of EGRESS_ALLOW_NETWORKS, and Amazon itself', async () => {
    const at = (smtp_host: string) => isOut({ ...sinks.smtp.settings, smtp_host });
    expect([await at('127.0.0.1'), await at('192.31.196.1')]).toEqual([false, true]);
    expect([await at('10.0.0.1'), await at('nowhere.invalid')]).toEqual([true, true]);
    expect([await isOut(cloud), await isOut(cloud, 'http://[::ffff:127.0.0.1]:1')]).toEqual([
      true,
      false,
    ]);
  });

  test.each(KINDS)('is kept with a record: %s on this machine is inside', async (kind) => {
    const { body } = await create(fieldsOf(sinks, kind));
    const list = () =>
      inProject(database.deps, api.project.project_id, (scope) => listOutside(scope, [body.id]));
    expect(await list()).toEqual([]);
    // A record from before, of which nothing is known.
    await setOutside(null);
    expect(await list()).toEqual(kind === 'smtp' ? [] : [body.id]);
  });
});

test.each([
  [LOCAL, false],
  [{ ...LOCAL, isPublicUrlSet: true }, false],
  [{ publicUrl: 'http://0.0.0.0:3000', isPublicUrlSet: false }, false],
  [{ publicUrl: 'http://mail.example.com', isPublicUrlSet: true }, true],
  [PUBLIC, true],
])('%j: readers can open links: %s', (site, expected) => {
  expect(isPublic(site)).toBe(expected);
});
