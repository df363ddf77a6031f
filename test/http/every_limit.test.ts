// Every limit in /docs holds: a request at the bound is taken, a request one past it is refused.
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import * as email from '../../src/base/email_address.ts';
import * as page from '../../src/base/page.ts';
import * as problems from '../../src/base/parse.ts';
import type { RefusalName } from '../../src/base/refusal.ts';
import { doorLimits } from '../../src/http/doors.ts';
import { sections } from '../../src/http/routes.ts';
import * as occurredAt from '../../src/ingest/occurred_at.ts';
import * as properties from '../../src/ingest/properties.ts';
import * as events from '../../src/ingest/schema.ts';
import * as traits from '../../src/profiles/traits.ts';
import * as segments from '../../src/segments/schema.ts';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Answer, Call } from '../support/api.ts';
import { snsService } from '../feedback/sns_service.ts';
import { testDatabase } from '../support/database.ts';
import { imapServer } from '../support/imap_server.ts';
import { API_KEY } from '../support/relay_sink.ts';
import { keepProvider } from '../support/kept_provider.ts';
import { shownRelay } from './as_shown.ts';
import { limitsOfAdmin } from './limits_of_admin.ts';
import { limitsOfPasswords } from './limits_of_passwords.ts';
import { limitsOfHeaders } from './limits_of_headers.ts';
import { limitsOfLinks } from './limits_of_links.ts';
import { limitsOfSegmentDoor } from './limits_of_segment_door.ts';
import { limitsOfSegments } from './limits_of_segments.ts';
import { limitsOfSending } from './limits_of_sending.ts';
import { limitsOfTemplates } from './limits_of_templates.ts';
import { limitsOfTopics } from './limits_of_topics.ts';
import { limitsOfAlerts } from './limits_of_alerts.ts';
import { limitsOfCalls } from './limits_of_calls.ts';
import { limitsOfMailboxes } from './limits_of_mailboxes.ts';
import { limitsOfTraits } from './limits_of_traits.ts';
import { limitsOfUnits, UNIT_RATES } from './limits_of_units.ts';
import { limitsOfVendors } from './limits_of_vendors.ts';
import { limitsOfWebhooks } from './limits_of_webhooks.ts';
import { automationsOf } from './automation_limits.ts';
import { bytes, chars, keys, padded, times } from './of_size.ts';

const database = testDatabase();
const sns = snsService();
shownRelay(database, sns);
const imap = imapServer();
const api = testApi(database);
/** Where a process is alone, and grants limits whole. */
const apart = testDatabase();

/** Rates that a test can use up. An address is asked about through a proxy that is trusted. */
const RATES = {
  ...UNIT_RATES,
  connectionsMax: 1_000,
  trustedProxies: 1,
};
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
/** What a request may take until the server looks at its clock. */
const MARGIN_MS = 60_000;

const post = (path: string, body: unknown, call: Call = {}) =>
  api.call('POST', path, { key: api.project.server_key, body, ...call });
const postHook = (body: unknown) =>
  post(`/v1/webhooks/smtp/${api.project.project_id}`, body, { key: api.project.hook_token });
const importList = (body: unknown) => post('/v1/suppression-imports', body);
const postSetting = (path: string, body: unknown) =>
  post(`/v1/projects/${api.project.project_id}/webhooks${path}`, body);
const postTemplate = (path: string, body: unknown) =>
  post(`/v1/projects/${api.project.project_id}${path}`, body);
const event = (given: object = {}) => ({ event: 'made', external_id: 'ann', ...given });
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

const eventOfBytes = (count: number) => {
  const parts = Object.fromEntries(Array.from('abcde', (name) => [name, '']));
  let rest = count - Buffer.byteLength(JSON.stringify(event({ properties: parts })));
  for (const name of Object.keys(parts)) {
    const here = Math.min(rest, 8_000);
    parts[name] = chars(here);
    rest -= here;
  }
  return event({ properties: parts });
};
const segmentCallOf = (values: number) => ({
  type: 'track',
  event: 'Made',
  userId: 'ann',
  integrations: times(values, () => 1),
});
const startAfresh = async (): Promise<void> => {
  api.project = await createProject(database.deps, 'fresh');
};
const identified = (traits: unknown) => post('/v1/identify', { external_id: newId(), traits });
const alias = (anonymous_id: string, external_id: string) =>
  post('/v1/identify/alias', { anonymous_id, external_id });

let senders = 0;
/** Connects a provider from an address of its own. */
const connect = (given: object = {}) => {
  senders += 1;
  return post(`/v1/projects/${api.project.project_id}/email-providers`, {
    provider: 'relay_api',
    display_name: 'a',
    from_email: `a${senders}@example.com`,
    api_key: API_KEY,
    ...given,
  });
};

type Send = (count: number) => Promise<Answer>;

/** At the bound taken, one past it refused, wherever it holds. */
const bound =
  (sends: Send[], name: RefusalName = 'invalid_request') =>
  async (value: number): Promise<void> => {
    for (const send of sends) {
      expect((await send(value)).status).toBeLessThan(300);
      expectRefusal(await send(value + 1), name);
    }
  };

/** Times that are taken and refused, of everything that has one. */
const moments = async (taken: number, refused: number, key: string): Promise<void> => {
  const tell = (ms: number) => [
    post('/v1/events', event({ occurred_at: ago(ms) }), { key }),
    post('/v1/events/batch', { events: [event({ occurred_at: ago(ms) })] }, { key }),
    post('/v1/identify', { external_id: 'ann', occurred_at: ago(ms) }, { key }),
  ];
  for (const one of tell(taken)) expect((await one).status).toBe(202);
  for (const one of tell(refused)) expectRefusal(await one, 'occurred_at_out_of_range');
};
const monthsAgoMs = (months: number): number => {
  const start = new Date();
  return Date.now() - start.setUTCMonth(start.getUTCMonth() - months);
};

const list = (path: string) => (count: number) =>
  api.call('GET', `${path}${path.includes('?') ? '&' : '?'}limit=${count}`, {
    key: api.project.server_key,
  });

const make = automationsOf(post);

const trials: Record<string, (value: number) => Promise<void>> = {
  'Steps of an automation': bound([make.steps]),
  'Filters of a trigger or a wait': bound([make.triggerFilters, make.waitFilters]),
  'Ways of a branch': bound([make.branches]),
  'Ways of a split': bound([make.ways]),
  'Rule of a schedule': bound([make.ruleChars]),
  'Occurrences that a rule counts': bound([make.ruleCount]),
  'People that a schedule starts in an hour': bound([make.perHour]),
  'Name of an automation': bound([make.name]),
  'Name of a webhook endpoint': bound([make.endpointName]),
  'URL of a webhook endpoint': bound([make.endpointUrl]),
  'Body of an automation': bound([make.body], 'body_too_large'),
  'Events in a batch': bound([
    (count) => post('/v1/events/batch', { events: times(count, () => event()) }),
  ]),
  'Body of a request with events': bound(
    [
      (count) => post('/v1/events', padded(event(), count)),
      (count) => post('/v1/events/batch', padded({ events: [event()] }, count)),
    ],
    'body_too_large',
  ),
  'One event as JSON': bound([
    (count) => post('/v1/events', eventOfBytes(count)),
    (count) => post('/v1/events/batch', { events: [eventOfBytes(count)] }),
  ]),
  'Name of an event': bound([(count) => post('/v1/events', event({ event: chars(count) }))]),
  Identifiers: bound([
    (count) => post('/v1/events', event({ external_id: chars(count) })),
    (count) => post('/v1/events', event({ anonymous_id: chars(count) })),
    (count) => post('/v1/identify', { external_id: chars(count) }),
    (count) =>
      post('/v1/identify', { external_id: 'a', anonymous_id: chars(count).replace('x', 'i') }),
    (count) => alias(chars(count).replace('x', 'a'), 'ann'),
    (count) => alias('device', chars(count).replace('x', 'e')),
  ]),
  'Id of a message': bound([
    (count) => post('/v1/events', event({ message_id: chars(count) })),
    (count) => post('/v1/identify', { external_id: 'ann', message_id: chars(count) }),
  ]),
  'A whole number, on either side of 0': bound(
    [1, -1].flatMap((sign) => [
      (count: number) => post('/v1/events', event({ properties: { a: sign * count } })),
      (count: number) => identified({ a: [{ b: sign * count }] }),
    ]),
  ),
  'Keys in properties': bound([(count) => post('/v1/events', event({ properties: keys(count) }))]),
  'A key in properties': bound([
    (count) => post('/v1/events', event({ properties: { [chars(count)]: 1 } })),
  ]),
  'A text in properties': bound([
    (count) => post('/v1/events', event({ properties: { a: bytes(count) } })),
  ]),
  'How far back events reach': (months) =>
    moments(monthsAgoMs(months) - MARGIN_MS, monthsAgoMs(months) + 1_000, api.project.server_key),
  'The same with a publishable key': (days) =>
    moments(days * DAY_MS - MARGIN_MS, days * DAY_MS + 1_000, api.project.publishable_key),
  'How far ahead': (hours) =>
    moments(-hours * HOUR_MS + 1_000, -hours * HOUR_MS - MARGIN_MS, api.project.server_key),
  ...limitsOfTraits({ post, bound }),
  ...limitsOfLinks({ api, database }),
  'Reason of an erase': bound([
    async (count) => {
      await post('/v1/identify', { external_id: 'erin' });
      return post('/v1/profiles/external_id:erin/erase', { reason: chars(count) });
    },
  ]),
  'DKIM selectors of one check': bound([
    async (count) => {
      const providerId = newId();
      await keepProvider(database, api.project.project_id, providerId, `${providerId}@shop.test`);
      const selectors = times(count, (at) => `s${at}`).join(',');
      const path = `/v1/email-providers/${providerId}/domain-health?dkim_selectors=${selectors}`;
      return api.call('GET', path, { key: api.project.server_key });
    },
  ]),
  "Checks of senders' domains that a project asks for, per process": async (perHour) => {
    await startAfresh();
    const providerId = newId();
    await keepProvider(database, api.project.project_id, providerId);
    const path = `/v1/email-providers/${providerId}/domain-health`;
    const { server_key: key } = api.project;
    for (let asked = 0; asked < perHour; asked += 1)
      expect((await api.call(asked % 2 ? 'GET' : 'POST', path, { key })).status).toBe(200);
    expectRefusal(await api.call('POST', path, { key }), 'rate_limited');
    expectRefusal(await api.call('GET', path, { key }), 'rate_limited');
  },
  ...limitsOfWebhooks({ postHook, bound }),
  ...limitsOfTopics({ api, sns, startAfresh }),
  ...limitsOfCalls(database),
  ...limitsOfAlerts(database, api, startAfresh),
  ...limitsOfMailboxes({ api, database, imap }),
  'Name of a provider, and of its sender': async (value) => {
    await startAfresh();
    await bound([
      (count) => connect({ display_name: chars(count) }),
      (count) => connect({ from_name: chars(count) }),
    ])(value);
  },
  'First day of a warm-up, ahead of today in UTC': bound([
    (days) =>
      connect({
        ramp: { started_on: new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10) },
      }),
  ]),
  'Connections to providers that a project asks for, per process': async (perHour) => {
    await startAfresh();
    for (let asked = 0; asked < perHour; asked += 1) expect((await connect()).status).toBe(201);
    expectRefusal(await connect(), 'rate_limited');
  },
  ...limitsOfVendors({ post, postSetting, api, bound }),
  ...limitsOfSending({ post, postSetting, api, bound }),
  'Addresses in an import': bound([
    (count) => importList({ addresses: times(count, (at) => ({ email: `a${at}@example.com` })) }),
    (count) =>
      importList({ csv: `email\n${times(count, (at) => `a${at}@example.com`).join('\n')}` }),
  ]),
  'Body of an import': bound(
    [(count) => importList(padded({ addresses: [{ email: 'a@example.com' }] }, count))],
    'body_too_large',
  ),
  'Note or reason of a change': bound(
    ['/v1/suppressions', '/v1/unsubscribes'].map(
      (path) => (count) => post(path, { email: 'a@example.com', note: chars(count) }),
    ),
  ),
  ...limitsOfSegmentDoor({ post, bound }),
  ...limitsOfSegments({ post, startAfresh, bound }),
  ...limitsOfAdmin({ api, database }),
  ...limitsOfPasswords({ database }),
  ...limitsOfTemplates({ post: postTemplate, bound }),
  ...limitsOfUnits({ apart, rates: RATES, api, database }),
  ...limitsOfHeaders(
    () => api.url,
    () => api.project.server_key,
  ),
  'Items on a page': bound(
    [
      '/v1/sends',
      '/v1/suppressions',
      '/v1/identity-links',
      '/v1/segments',
      '/v1/profiles?email=a',
    ].map(list),
  ),
  'Values in a JSON body': bound(
    [
      // The whole, three members and a list are values, too.
      (count) => post('/segment/v1/track', segmentCallOf(count - 5)),
      (count) => post('/segment/v1/batch', { batch: [segmentCallOf(count - 7)] }),
    ],
    'body_too_large',
  ),
  'Any other JSON body': bound(
    [
      (count) => post('/v1/identify', padded({ external_id: 'ann' }, count)),
      (count) =>
        post('/v1/identify/alias', padded({ anonymous_id: 'd', external_id: 'ann' }, count)),
    ],
    'body_too_large',
  ),
  'Idempotency-Key': bound(
    [(count) => post('/v1/events', event(), { headers: { 'idempotency-key': chars(count) } })],
    'invalid_idempotency_key',
  ),
  'How long a repeated request is known': async (hours) => {
    const repeat = async () => {
      const { headers } = await post('/v1/events', event(), {
        headers: { 'idempotency-key': 'k' },
      });
      return headers.has('idempotency-replayed');
    };
    await repeat();
    for (const [minutes, isKnown] of [
      [hours * 60 - 1, true],
      [hours * 60, false],
    ] as const) {
      await database.owner.query(
        'update http.idempotency_keys set created_at = now() - make_interval(mins => $1)',
        [minutes],
      );
      expect(await repeat()).toBe(isKnown);
    }
  },
  'Problems that one answer lists': async (count) => {
    for (const wrong of [count - 1, count, count + 1]) {
      const many = Object.fromEntries(times(wrong, (at) => [`unknown_${at}`, 1]));
      const issues = expectRefusal(await post('/v1/events', event(many)), 'invalid_request');
      expect(issues).toHaveLength(Math.min(wrong, count));
    }
  },
};

// Shown by tests of their own; changes of an address and what an undo preview tells is how much is answered.
const ELSEWHERE = [
  'Connections at a time, per process',
  'Memory for the bodies of requests, per process',
  'The same for requests with publishable keys',
  'The same for requests from one address',
  'Requests from one address in progress, per process',
  'Requests of a project that wait for the database, per process',
  'Time for headers to arrive',
  'Time for a request to arrive',
  'Open exports of a project, per process',
  'Time to take 64 KiB of an export',
  'Body of an unsubscribe',
  'Emails of such runs to one recipient that are stopped in 24 hours',
  'Changes of an address',
  'DNS queries of one check of a domain',
  'Time of one check of a domain',
  "Changes of a sender's domain that are kept",
  "How long changes of a sender's domain are kept",
  'Events that an undo preview counts',
  'Runs that an undo preview names',
  'Time to render a mail',
  'Time to look at a template',
  'Templates of a project that wait to be saved or shown, per process',
];

const BOUND = /^[A-Z][A-Z_]*_MAX$/;
const limits = [
  ...sections.flatMap((section) => section.limits ?? []),
  ...doorLimits({ ...RATES, retentionMonths: 24 } as unknown as Parameters<typeof doorLimits>[0]),
].filter(({ name }) => !ELSEWHERE.includes(name));

test('every limit in the documents is tried here, and no other', () => {
  expect(Object.keys(trials).toSorted()).toEqual(limits.map(({ name }) => name).toSorted());
});

test('every bound of what callers send is in the documents', () => {
  const edges = [email, page, problems, occurredAt, properties, events, traits, segments];
  const bounds = edges.flatMap((edge) =>
    Object.entries(edge as Record<string, unknown>).filter(([name]) => BOUND.test(name)),
  );
  expect(bounds.length).toBeGreaterThan(15);
  const documented: unknown[] = limits.map(({ value }) => value);
  expect(bounds.filter(([, value]) => !documented.includes(value))).toEqual([]);
});

describe.each(limits)('$name', ({ name, value }) => {
  test(`${value}: taken at the bound, refused one past it`, async () => {
    await trials[name]?.(value);
  });
});
