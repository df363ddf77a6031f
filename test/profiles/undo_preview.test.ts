// What a preview says of an undo is what the database holds once the link is undone.
import { beforeEach, expect, test } from 'vitest';
import { createActive, listInProgress } from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { findLink } from '../../src/identity/identity.ts';
import { createProject } from '../../src/projects/projects.ts';
import { previewUndo } from '../../src/profiles/undo_preview.ts';
import type { UndoPreview } from '../../src/profiles/undo_preview.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { listTables } from '../support/catalogue.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

type Side = NonNullable<UndoPreview['stays']>;
type Known = { id: string; email: string | null; traits: Record<string, unknown> };

beforeEach(async () => {
  api.project = await createProject(database.deps, 'previewed');
});

const ask = async (method: string, path: string, body?: unknown, key = api.project.server_key) => {
  const answer = await api.call(method, path, { key, ...(body === undefined ? {} : { body }) });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};

const preview = (linkId: string): Promise<UndoPreview> =>
  ask('GET', `/v1/identity-links/${linkId}/undo-preview`);
const read = (profileId: string): Promise<Known> => ask('GET', `/v1/profiles/${profileId}`);
const track = (person: object, event = 'page_viewed') =>
  ask('POST', '/v1/events', { event, ...person });
const tell = (external_id: string, traits: object, key?: string) =>
  ask('POST', '/v1/identify', { external_id, traits }, key);

/** What only a device was told: a page identified somebody, and that was undone. */
const tellDevice = (anonymousId: string, traits: object, authority = 'publishable') =>
  database.owner.query(
    `insert into profiles.traits (project_id, identity_id, key, value, set_at, authority)
     select project_id, identity_id, told.key, told.value, now() + interval '1 hour', $4
     from identity.identities, jsonb_each($3::jsonb) as told
     where project_id = $1 and kind = 'anonymous' and identities.value = $2`,
    [api.project.project_id, anonymousId, JSON.stringify(traits), authority],
  );

const alias = async (anonymous_id: string, external_id: string): Promise<string> =>
  (await ask('POST', '/v1/identify/alias', { anonymous_id, external_id })).link.id;

/** Has a profile folded anew, as the next word would. */
const refold = (profileId: string) =>
  database.owner.query('select * from profiles.fold_profile($1, $2, now())', [
    api.project.project_id,
    profileId,
  ]);

/** An automation in which people are for a day. */
const makePatient = () =>
  inProject(database.deps, api.project.project_id, (scope) =>
    createActive(scope, 'Patient', {
      trigger: { kind: 'event', event: 'user_signed_up', where: [] },
      settings: { re_entry: 'every_time' },
      entry: 'wait',
      steps: { wait: { kind: 'delay', duration: 'P1D', next: null } },
    }),
  );

/** Ann with two devices, of which one was told this and that, and ran into an automation. */
const makeAnn = async () => {
  await makePatient();
  const device = { anonymous_id: 'phone' };
  for (const event of ['page_viewed', 'page_viewed', 'user_signed_up']) await track(device, event);
  await track({ external_id: 'ann' }, 'user_signed_up');
  await track({ external_id: 'ann', anonymous_id: 'phone' });
  await track({ anonymous_id: 'tablet' });
  await tell('ann', { email: 'ann@example.com', plan: 'free', city: 'Bern' });
  await api.processEvents();
  await tellDevice('phone', { email: 'phone@example.com', seen: 3, city: 'Bern' });
  await tellDevice('phone', { plan: 'pro', gone: null }, 'server');
  await alias('tablet', 'ann');
  const linkId = await alias('phone', 'ann');
  return linkId;
};

/** Traits after a change, from what they were before. */
const changed = (traits: Record<string, unknown>, { traits: changes }: Side) => {
  const after = new Map(Object.entries(traits));
  for (const { key, before, after: told } of changes) {
    expect(after.get(key), `${key} before`).toEqual(before?.value);
    if (told) after.set(key, told.value);
    else after.delete(key);
  }
  return Object.fromEntries(after);
};

const timelineOf = async (profileId: string): Promise<string[]> =>
  (await ask('GET', `/v1/profiles/${profileId}/events?limit=200`)).items.map(
    ({ id }: { id: string }) => id,
  );

const readProject = async (): Promise<string> => {
  const all: unknown[] = [];
  for (const table of await listTables(database.owner, 'tenant')) {
    const { rows } = await database.owner.query(
      `select found::text as row from ${table} as found where project_id = $1 order by 1`,
      [api.project.project_id],
    );
    all.push([table, rows]);
  }
  return JSON.stringify(all);
};

test('200: every number of a preview is what the undo then leaves', async () => {
  const linkId = await makeAnn();
  await ask('POST', '/v1/suppressions', { email: 'ann@example.com' });
  const said = await preview(linkId);
  if (!said.stays || !said.leaves) throw new Error('nothing would be undone');
  expect(said.is_possible).toBe(true);
  const before = await read(said.stays.profile_id);
  const whole = await timelineOf(said.stays.profile_id);
  expect(said.stays.traits.map(({ key }) => key)).toEqual(['plan', 'seen']);
  expect(said.stays.unchanged).toBe(2);

  await ask('POST', `/v1/identity-links/${linkId}/undo`);
  const person = await read(said.stays.profile_id);
  const device = await read(said.leaves.profile_id);
  expect(person.traits).toEqual(changed(before.traits, said.stays));
  expect(device.traits).toEqual(changed({}, said.leaves));
  expect(said.stays.email).toEqual({ before: before.email, after: person.email });
  expect(said.leaves.email).toEqual({ before: null, after: device.email });
  expect(device).toMatchObject({ identifiers: [{ kind: 'anonymous', value: 'phone' }] });
  expect(person).toMatchObject({ identifiers: said.stays.identifiers });
  expect(device).toMatchObject({ identifiers: said.leaves.identifiers });

  const moved = await timelineOf(said.leaves.profile_id);
  expect(said.events).toEqual({ count: moved.length, is_capped: false });
  expect([...moved, ...(await timelineOf(said.stays.profile_id))].toSorted()).toEqual(
    whole.toSorted(),
  );
  expect(said.suppressions).toEqual([{ email: 'ann@example.com', reasons: ['manual'] }]);
  expect(person).toMatchObject({ suppressed: true });

  const { rows: runs } = await database.owner.query(
    `select run_id, known.profile_id from automations.runs
     join identity.identities as known using (project_id, identity_id)
     where project_id = $1 and status = 'active'`,
    [api.project.project_id],
  );
  const sides = { stays: said.stays.profile_id, leaves: said.leaves.profile_id };
  expect(said.runs).toHaveLength(2);
  for (const { id, goes_on_for, automation } of said.runs) {
    const run = runs.find(({ run_id }) => run_id === id);
    expect([run?.profile_id, automation]).toEqual([sides[goes_on_for], 'Patient']);
  }
});

test('200: a preview says who was told what, by which key, before and after', async () => {
  const said = await preview(await makeAnn());
  const phone = { kind: 'anonymous', value: 'phone' };
  expect(said.stays?.traits).toMatchObject([
    {
      key: 'plan',
      before: { value: 'pro', identifier: phone, authority: 'server' },
      after: { value: 'free', identifier: { kind: 'external', value: 'ann' } },
    },
    { key: 'seen', before: { value: 3, identifier: phone, authority: 'publishable' }, after: null },
  ]);
});

test('200: asking changes nothing in any table', async () => {
  const linkId = await makeAnn();
  const before = await readProject();
  await preview(linkId);
  expect(await readProject()).toBe(before);
});

test('200: of a link that is undone, or was refused, nothing would change', async () => {
  const linkId = await makeAnn();
  await api.call('POST', '/v1/identify/alias', {
    key: api.project.server_key,
    body: { anonymous_id: 'tablet', external_id: 'bob' },
  });
  const { items } = await ask('GET', '/v1/identity-links?status=refused');
  await ask('POST', `/v1/identity-links/${linkId}/undo`);
  for (const id of [linkId, items[0].id])
    expect(await preview(id)).toMatchObject({
      is_possible: false,
      stays: null,
      leaves: null,
      events: { count: 0, is_capped: false },
      runs: [],
      suppressions: [],
    });
});

test('200: what would win by rank wins in the preview, whoever was told it in which order', async () => {
  const words = [
    ['server', 'a'],
    ['server', 'b'],
    ['publishable', 'z'],
    ['publishable', null],
  ] as const;
  for (const [mine, told] of words)
    for (const [authority, value] of words) {
      const [person, device] = [newId(), newId()];
      await tell(person, { email: `${person}@example.com` });
      await track({ anonymous_id: device });
      await api.processEvents();
      await tellDevice(device, { plan: value }, authority);
      const linkId = await alias(device, person);
      const { profile_id } = (await ask('GET', `/v1/identity-links/${linkId}`)) as {
        profile_id: string;
      };
      await database.owner.query(
        `insert into profiles.traits (project_id, identity_id, key, value, set_at, authority)
         select project_id, identity_id, 'plan', $3::jsonb, now() + interval '1 hour', $4
         from identity.identities where project_id = $1 and identities.value = $2`,
        [api.project.project_id, person, JSON.stringify(told), mine],
      );
      await refold(profile_id);
      const said = await preview(linkId);
      const before = await read(profile_id);
      await ask('POST', `/v1/identity-links/${linkId}/undo`);
      if (!said.stays || !said.leaves) throw new Error('nothing would be undone');
      const after = await read(profile_id);
      expect(after.traits).toEqual(changed(before.traits, said.stays));
      expect((await read(said.leaves.profile_id)).traits).toEqual(changed({}, said.leaves));
    }
});

test('events are counted up to a bound, and it is said where there are more', async () => {
  const linkId = await makeAnn();
  const countTo = (eventsMax: number) =>
    inProject(database.deps, api.project.project_id, async (scope) => {
      const link = await findLink(scope, linkId);
      if (!link) throw new Error('there is no such link');
      return (await previewUndo(scope, link, listInProgress, eventsMax)).events;
    });
  expect(await countTo(3)).toEqual({ count: 3, is_capped: false });
  expect(await countTo(2)).toEqual({ count: 2, is_capped: true });
});

test('404 and 403: of no link, and for a page', async () => {
  const path = `/v1/identity-links/${newId()}/undo-preview`;
  const { server_key, publishable_key } = api.project;
  expectRefusal(await api.call('GET', path, { key: server_key }), 'not_found');
  expectRefusal(await api.call('GET', path, { key: publishable_key }), 'wrong_key_type');
});
