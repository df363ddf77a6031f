// A server's identify outranks what a browser linked before it: what follows for profiles, runs and segments, and back.
import { beforeEach, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import type { UndoPreview } from '../../src/profiles/undo_preview.ts';
import { createProject } from '../../src/projects/projects.ts';
import { createSegment } from '../../src/segments/segments.ts';
import { Definition } from '../../src/segments/schema.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { refreshSegments } from '../support/refresh_segments.ts';

const database = testDatabase();
const api = testApi(database);

beforeEach(async () => {
  api.project = await createProject(database.deps, 'pre-linked');
});

type Who = { anonymous_id?: string; external_id?: string };

const ask = async (method: string, path: string, body?: unknown, key = api.project.server_key) => {
  const answer = await api.call(method, path, { key, ...(body === undefined ? {} : { body }) });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};
const byServer = (body: object) => ask('POST', '/v1/identify', body);
const byBrowser = (body: object) => ask('POST', '/v1/identify', body, api.project.publishable_key);
const track = async (who: Who, event = 'page_viewed') => {
  await ask('POST', '/v1/events', { event, ...who });
  await api.processEvents();
};
const find = async (by: 'external_id' | 'anonymous_id', value: string) =>
  (await ask('GET', `/v1/profiles?${by}=${value}`)).items[0];
const namesOf = async (by: 'external_id' | 'anonymous_id', value: string): Promise<string[]> =>
  (await find(by, value)).identifiers.map((one: { value: string }) => one.value);
const eventsOf = async (externalId: string): Promise<string[]> =>
  (await ask('GET', `/v1/profiles/external_id:${externalId}/events`)).items.map(
    ({ event }: { event: string }) => event,
  );
const readLog = async () => (await ask('GET', '/v1/identity-links')).items.toReversed();
const undo = (id: string) => ask('POST', `/v1/identity-links/${id}/undo`);

/** A device that its owner used, which a browser then said is Mallory's. */
const preLink = async () => {
  await track({ anonymous_id: 'device' }, 'cart_filled');
  await byServer({ external_id: 'mallory', traits: { city: 'Bern' } });
  await byServer({ external_id: 'ann', traits: { plan: 'pro' } });
  await byBrowser({ anonymous_id: 'device', external_id: 'mallory' });
  expect(await namesOf('external_id', 'mallory')).toEqual(['mallory', 'device']);
};

test.each([
  ['identify', () => byServer({ anonymous_id: 'device', external_id: 'ann' })],
  [
    'alias',
    () => ask('POST', '/v1/identify/alias', { anonymous_id: 'device', external_id: 'ann' }),
  ],
  [
    'Segment-compatible identify',
    () => ask('POST', '/segment/v1/identify', { anonymousId: 'device', userId: 'ann' }),
  ],
  [
    'Segment-compatible alias',
    () => ask('POST', '/segment/v1/alias', { previousId: 'device', userId: 'ann' }),
  ],
  [
    'Segment-compatible batch',
    () =>
      ask('POST', '/segment/v1/batch', {
        batch: [{ type: 'identify', anonymousId: 'device', userId: 'ann' }],
      }),
  ],
])(
  'attack: a device is pre-linked to the attacker; %s by a server takes it back',
  async (_, say) => {
    await preLink();
    for (let time = 0; time < 2; time += 1) await say();
    expect(await namesOf('anonymous_id', 'device')).toEqual(['ann', 'device']);
    expect(await namesOf('external_id', 'mallory')).toEqual(['mallory']);
    expect([await eventsOf('mallory'), await eventsOf('ann')]).toEqual([[], ['cart_filled']]);
    const [older, newer, ...more] = await readLog();
    expect(more).toEqual([]);
    expect(older).toMatchObject({
      external_id: 'mallory',
      key_type: 'publishable',
      status: 'undone',
      undone_by: 'server_link',
      replaced_by: newer.id,
    });
    expect(newer).toMatchObject({ external_id: 'ann', status: 'active', replaces: older.id });
  },
);

test.each([
  ['identify', '/v1/identify', { anonymous_id: 'device', external_id: 'mallory' }],
  ['Segment-compatible alias', '/segment/v1/alias', { previousId: 'device', userId: 'mallory' }],
])('attack: a page takes a device from whom a server gave it, by %s', async (_, path, body) => {
  await byServer({ anonymous_id: 'device', external_id: 'ann' });
  await ask('POST', path, body, api.project.publishable_key);
  expect(await namesOf('anonymous_id', 'device')).toEqual(['ann', 'device']);
  expect((await readLog()).at(-1)).toMatchObject({
    status: 'refused',
    reason: 'linked_to_another',
  });
});

test('409 identity_conflict: a link that a server confirmed is not moved', async () => {
  await preLink();
  await byServer({ anonymous_id: 'device', external_id: 'mallory' });
  expect((await readLog())[0]).toMatchObject({ confirmed_at: expect.any(String) });
  expectRefusal(
    await api.call('POST', '/v1/identify/alias', {
      key: api.project.server_key,
      body: { anonymous_id: 'device', external_id: 'ann' },
    }),
    'identity_conflict',
  );
});

test('a repeated request of a browser does not take the device back', async () => {
  await track({ anonymous_id: 'device' });
  const said = { anonymous_id: 'device', external_id: 'mallory', message_id: 'once' };
  await byBrowser(said);
  await byServer({ anonymous_id: 'device', external_id: 'ann' });
  await byBrowser(said);
  expect(await namesOf('anonymous_id', 'device')).toEqual(['ann', 'device']);
});

test('200: the undo of the server’s link restores the browser’s, and repeats its answer', async () => {
  await preLink();
  await byServer({ anonymous_id: 'device', external_id: 'ann' });
  const [older, newer] = await readLog();
  const ownId = (await ask('GET', `/v1/identity-links/${newer.id}/undo-preview`)).leaves.profile_id;
  const undone = await undo(newer.id);
  expect(undone).toMatchObject({
    link: { id: newer.id, status: 'undone', replaces: older.id },
    restored: { id: older.id, status: 'active', undone_at: null, replaced_by: null },
  });
  expect(undone.profiles.map((one: { external_id: string }) => one.external_id)).toEqual([
    'ann',
    'mallory',
  ]);
  expect(ownId).toBe((await find('external_id', 'mallory')).id);
  expect(await eventsOf('mallory')).toEqual(['cart_filled']);
  expect(await namesOf('external_id', 'ann')).toEqual(['ann']);
  expect(await undo(newer.id)).toEqual(undone);
});

/** What a device alone was given: by an undo of a browser's identify. */
const tellDevice = (traits: object) =>
  database.owner.query(
    `insert into profiles.traits (project_id, identity_id, key, value, set_at, authority)
     select project_id, identity_id, told.key, told.value, now() + interval '1 hour', 'server'
     from identity.identities, jsonb_each($2::jsonb) as told
     where project_id = $1 and kind = 'anonymous' and identities.value = 'device'`,
    [api.project.project_id, JSON.stringify(traits)],
  );

test('200: every number of a preview of such an undo is what it then leaves', async () => {
  await track({ anonymous_id: 'device' }, 'cart_filled');
  await tellDevice({ city: 'Graz', seats: 3 });
  await byServer({
    external_id: 'mallory',
    traits: { city: 'Bern', email: 'mallory@example.com' },
  });
  await byServer({ external_id: 'ann', traits: { plan: 'pro', email: 'ann@example.com' } });
  await byBrowser({ anonymous_id: 'device', external_id: 'mallory' });
  await byServer({ anonymous_id: 'device', external_id: 'ann' });
  const [older, newer] = await readLog();
  const before = {
    ann: await find('external_id', 'ann'),
    mallory: await find('external_id', 'mallory'),
  };
  const said: UndoPreview = await ask('GET', `/v1/identity-links/${newer.id}/undo-preview`);
  expect(said).toMatchObject({
    is_possible: true,
    restores: { id: older.id },
    events: { count: 1 },
  });
  await undo(newer.id);
  const after = {
    ann: await find('external_id', 'ann'),
    mallory: await find('external_id', 'mallory'),
  };
  for (const [side, was, is] of [
    [said.stays, before.ann, after.ann],
    [said.leaves, before.mallory, after.mallory],
  ] as const) {
    const changes = new Map(Object.entries<unknown>(was.traits));
    for (const { key, before: left, after: right } of side?.traits ?? []) {
      expect(changes.get(key)).toEqual(left?.value);
      if (right) changes.set(key, right.value);
      else changes.delete(key);
    }
    expect(Object.fromEntries(changes)).toEqual(is.traits);
    expect(side).toMatchObject({
      profile_id: is.id,
      email: { before: was.email, after: is.email },
    });
    expect(is.identifiers).toMatchObject(side?.identifiers ?? []);
  }
  expect(said.leaves?.traits.map(({ key }) => key)).toEqual(['city', 'seats']);
  expect(said.leaves?.identifiers).toHaveLength(2);
});

test('200: of a link that was replaced nothing would change, and its undo keeps it from coming back', async () => {
  await preLink();
  await byServer({ anonymous_id: 'device', external_id: 'ann' });
  const [older, newer] = await readLog();
  expect(await ask('GET', `/v1/identity-links/${older.id}/undo-preview`)).toMatchObject({
    is_possible: false,
    restores: null,
  });
  expect(await undo(older.id)).toMatchObject({
    link: { status: 'undone', undone_by: 'server_key', replaced_by: null },
    restored: null,
  });
  expect(await undo(newer.id)).toMatchObject({ restored: null });
  expect(await namesOf('anonymous_id', 'device')).toEqual(['device']);
});

const inScope = <T>(work: Parameters<typeof inProject<T>>[2]) =>
  inProject(database.deps, api.project.project_id, work);

test('segments follow: the events of the device count for one person at a time', async () => {
  const segmentId = newId();
  const where = {
    kind: 'event',
    event: 'cart_filled',
    where: [],
    count: { is: 'at_least', value: 1 },
  };
  const definition = Definition.parse({ where });
  await inScope((scope) => createSegment(scope, { segmentId, name: 'Carts', definition }));
  const refresh = async (): Promise<string[]> => {
    await api.processEvents();
    await refreshSegments(database.deps, api.project.project_id, {
      signal: NEVER,
      now: () => new Date(),
    });
    const { items } = await ask('GET', `/v1/segments/${segmentId}/members`);
    const ids = new Set(items.map((one: { profile_id: string }) => one.profile_id));
    const people = await Promise.all(['ann', 'mallory'].map((who) => find('external_id', who)));
    return people.filter(({ id }) => ids.has(id)).map(({ external_id }) => external_id);
  };
  await preLink();
  expect(await refresh()).toEqual(['mallory']);
  await byServer({ anonymous_id: 'device', external_id: 'ann' });
  expect(await refresh()).toEqual(['ann']);
  await undo((await readLog()).at(-1).id);
  expect(await refresh()).toEqual(['mallory']);
});

/** Has people of whom each waits for an event. */
const waitForCarts = () =>
  inScope((scope) =>
    automations.createActive(scope, 'Patient', {
      trigger: { kind: 'event', event: 'signed_up', where: [] },
      settings: { re_entry: 'every_time' },
      entry: 'wait',
      steps: {
        wait: {
          kind: 'wait_for_event',
          event: 'cart_filled',
          timeout: 'P1D',
          next: null,
          on_timeout: null,
        },
      },
    }),
  );

const runsOf = async (externalId: string): Promise<string[]> => {
  while ((await inScope(automations.advance)).isMore);
  const { rows } = await database.owner.query<{ status: string }>(
    `select status from automations.runs join identity.identities using (project_id, identity_id)
     where project_id = $1 and value = $2`,
    [api.project.project_id, externalId],
  );
  return rows.map(({ status }) => status);
};

test('runs that wait are woken by a link that replaces, and by one that comes back', async () => {
  await waitForCarts();
  await byServer({ external_id: 'mallory' });
  await byServer({ external_id: 'ann' });
  await byBrowser({ anonymous_id: 'device', external_id: 'mallory' });
  await byServer({ anonymous_id: 'device', external_id: 'ann' });
  await track({ external_id: 'mallory' }, 'signed_up');
  await track({ anonymous_id: 'device' }, 'cart_filled');
  expect(await runsOf('mallory')).toEqual(['active']);
  await undo((await readLog()).at(-1).id);
  expect(await runsOf('mallory')).toEqual(['ended']);

  await track({ external_id: 'ann' }, 'signed_up');
  await track({ anonymous_id: 'device' }, 'cart_filled');
  expect(await runsOf('ann')).toEqual(['active']);
  await byServer({ anonymous_id: 'device', external_id: 'ann' });
  expect(await runsOf('ann')).toEqual(['ended']);
});
