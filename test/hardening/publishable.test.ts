// What anybody can do who has read a page's source.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Resources } from '../../src/base/resources.ts';
import { UNITS } from '../../src/base/work_units.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { WINDOW_SECONDS } from '../../src/http/limits.ts';
import { routes } from '../../src/http/routes.ts';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
/** Where a process is alone, and grants limits whole. */
const apart = testDatabase();

const WRITES = [
  'POST /segment/v1/:call',
  'POST /segment/v1/b',
  'POST /segment/v1/batch',
  'POST /v1/events',
  'POST /v1/events/batch',
  'POST /v1/identify',
];

test('what a publishable key may call is this list, and each of it only writes', () => {
  const open = routes.filter(({ access }) => access === 'publishable');
  expect(open.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(WRITES);
  // A new endpoint must say what its work costs, and which devices it names.
  for (const route of open) expect(route).toHaveProperty('workOf');
});

test('every endpoint has its version in its path, or is one of these', () => {
  const unversioned = routes.filter(({ path }) => !/^(?:\/segment)?\/v1\//.test(path));
  expect(unversioned.map(({ path }) => path)).toEqual(['/webhooks/smtp/:project_id']);
});

/** An answer without what differs from request to request. */
const comparable = ({ status, body }: Answer) => {
  const { event_ids, ...rest } = body as { event_ids?: string[] };
  return { status, ...rest, request_id: '', ids: event_ids?.length };
};

test('an answer is the same for people who are known, erased or suppressed, and for strangers', async () => {
  const { server_key, publishable_key } = api.project;
  const post = (path: string, body: object, key = publishable_key) =>
    api.call('POST', path, { key, body });
  const tell = (external_id: string, email: string) =>
    post('/v1/identify', { external_id, traits: { email } }, server_key);
  await tell('known', 'known@example.com');
  await tell('gone', 'gone@example.com');
  await tell('left-alone', 'left-alone@example.com');
  await post('/v1/identify/alias', { anonymous_id: 'taken', external_id: 'known' }, server_key);
  await post('/v1/suppressions', { email: 'left-alone@example.com' }, server_key);
  await post('/v1/profiles/external_id:gone/erase', {}, server_key);

  const ask = async (external_id: string, email: string, anonymous_id: string) => [
    comparable(await post('/v1/events', { event: 'page_viewed', external_id, anonymous_id })),
    comparable(await post('/v1/identify', { external_id, anonymous_id, traits: { email } })),
    comparable(
      await post('/segment/v1/identify', { userId: external_id, anonymousId: anonymous_id }),
    ),
  ];
  const stranger = await ask('nobody-yet', 'nobody-yet@example.com', 'new-device');
  expect(stranger.map(({ status }) => status)).toEqual([202, 202, 200]);
  for (const [who, device] of [
    ['known', 'other-device'],
    ['gone', 'third-device'],
    ['left-alone', 'fourth-device'],
    ['somebody-else', 'taken'],
  ] as const)
    expect(await ask(who, `${who}@example.com`, device), who).toEqual(stranger);
});

test('whatever page it says that it comes from, or none, a key may do the same', async () => {
  const { publishable_key: key } = api.project;
  const origins = [null, 'null', api.url, 'https://shop.example', 'http://localhost', '*', ''];
  const ask = async (origin: string | null, at: number) => {
    const headers = origin === null ? {} : { origin, referer: `${origin}/page` };
    const anonymous_id = `page-${at}`;
    const call = (method: string, path: string, body?: object) =>
      api.call(method, path, { key, headers, ...(body ? { body } : {}) });
    return [
      comparable(await call('POST', '/v1/events', { event: 'page_viewed', anonymous_id })),
      comparable(await call('GET', '/v1/profiles?external_id=ann')),
      comparable(await call('POST', '/v1/suppressions', { email: 'ann@example.com' })),
    ];
  };
  const [first, ...others] = await Promise.all(origins.map(ask));
  expect(first?.map(({ status }) => status)).toEqual([202, 403, 403]);
  for (const other of others) expect(other).toEqual(first);
});

describe('429 rate_limited', () => {
  const PER_SECOND = 20;
  const resources = new Resources();
  let tight: Listening;
  beforeAll(async () => {
    const config = { ...apart.deps.config, unitLimitAnonymous: PER_SECOND, trustedProxies: 1 };
    tight = await openApi({ ...apart.deps, config, resources }, { isDraining: false }, true);
  });
  afterAll(async () => {
    await tight.close();
    await resources.close();
  });

  test('429 rate_limited: one anonymous id from many addresses, in whatever it is sent', async () => {
    const { publishable_key, server_key } = await createProject(apart.deps, 'devices');
    const quota = PER_SECOND * WINDOW_SECONDS;
    let asked = 0;
    const post = async (path: string, body: object, key = publishable_key): Promise<Answer> => {
      asked += 1;
      const response = await fetch(`http://127.0.0.1:${tight.port}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'x-forwarded-for': `192.0.2.${asked % 250}`,
        },
        body: JSON.stringify(body),
      });
      const { status, headers } = response;
      return { status, headers, body: await response.json() };
    };
    const anonymous_id = '4711';
    const forms: [path: string, body: object][] = [
      ['/v1/events', { event: 'page_viewed', anonymous_id }],
      ['/v1/events/batch', { events: [{ event: 'page_viewed', anonymous_id }] }],
      ['/v1/identify', { external_id: 'ann', anonymous_id }],
      ['/segment/v1/track', { event: 'Page', anonymousId: anonymous_id }],
      ['/segment/v1/batch', { batch: [{ type: 'page', anonymousId: anonymous_id }] }],
      ['/segment/v1/b', { batch: [{ type: 'page', anonymousId: anonymous_id }] }],
      // Whose device it was before is told as its identify, and is one.
      ['/segment/v1/alias', { userId: 'ann', previousId: anonymous_id }],
      ['/segment/v1/a', { userId: 'ann', previousId: anonymous_id, anonymousId: 'another' }],
      [
        '/segment/v1/batch',
        { batch: [{ type: 'alias', userId: 'ann', previousId: anonymous_id }] },
      ],
      // A number is taken for the text that it is written as.
      ['/segment/v1/page', { anonymousId: Number(anonymous_id) }],
      ['/segment/v1/b', { batch: [{ type: 'page', anonymousId: Number(anonymous_id) }] }],
      ['/segment/v1/alias', { userId: 'ann', previousId: Number(anonymous_id) }],
    ];
    const identify = UNITS.identify + UNITS.link;
    const units = forms.map(([path, body]) =>
      /identify|alias|\/a$/.test(path) || JSON.stringify(body).includes('alias') ? identify : 1,
    );
    let left = quota;
    for (const [at, [path, body]] of forms.entries()) {
      expect((await post(path, body)).status).toBeLessThan(300);
      left -= units[at] ?? 0;
    }
    expect(left).toBeGreaterThan(0);
    const [path = '', body = {}] = forms[0] ?? [];
    for (; left > 0; left -= 1) expect((await post(path, body)).status).toBeLessThan(300);
    for (const [path, body] of forms) {
      const refused = await post(path, body);
      expectRefusal(refused, 'rate_limited');
      expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(refused.headers.get('ratelimit')).toMatch(/^"anonymous_id_units";r=0;t=\d+$/);
    }
    // Other devices of the page go on, and so does a server that speaks of this one.
    const other = { event: 'page_viewed', anonymous_id: 'somebody' };
    expect((await post('/v1/events', other)).status).toBe(202);
    expect((await post('/v1/events', { ...other, anonymous_id }, server_key)).status).toBe(202);
  });
});
