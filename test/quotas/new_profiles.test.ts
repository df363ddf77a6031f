import { describe, expect, test } from 'vitest';
import { issueKey } from '../../src/projects/projects.ts';
import { expectRefusal } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { workOn } from '../support/work_on.ts';
import { countedOf, makeLimited, testProcess } from './api_with_quotas.ts';

const database = testDatabase();
const TIMEOUT_MS = 60_000;

const one = testProcess(database);
const other = testProcess(database);

const seen = (anonymous_id: string) => ({ event: 'page_viewed', anonymous_id });
const view = (key: string, device: string, at = one) => at.post('/v1/events', key, seen(device));

const expectExceeded = (answer: Answer): void => {
  expectRefusal(answer, 'quota_exceeded');
  expect(answer.body.reason).toBe('new_profiles');
  expect(answer.body.detail).toContain('new profiles');
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(86_400);
};
const countPeople = async (projectId: string): Promise<number> => {
  const { rows } = await database.owner.query(
    'select count(*)::int as people from profiles.profiles where project_id = $1',
    [projectId],
  );
  return rows[0].people;
};

describe('429 quota_exceeded: new profiles by events', () => {
  test('at the bound new people pass, one past it none, also before a worker has seen them', async () => {
    const { project_id, publishable_key: key } = await makeLimited(database, { newProfiles: 3 });
    for (const device of ['a', 'b', 'c', 'a']) expect((await view(key, device)).status).toBe(202);
    expectExceeded(await view(key, 'd'));
    expect((await view(key, 'b')).status).toBe(202);
    await workOn(database, project_id);
    expect(await countPeople(project_id)).toBe(3);
    expect(await countedOf(database, project_id)).toMatchObject({ profiles: 3 });
    expectExceeded(await view(key, 'd'));
  });

  test('known devices still pass; a batch with one unknown device stores nothing', async () => {
    const { project_id, publishable_key: key } = await makeLimited(database, { newProfiles: 2 });
    for (const device of ['a', 'b']) await view(key, device);
    await workOn(database, project_id);
    const batch = (...devices: string[]) =>
      one.post('/v1/events/batch', key, { events: devices.map(seen) });
    expect((await batch('a', 'b', 'a')).status).toBe(202);
    const before = await database.owner.query('select from ingest.events');
    expectExceeded(await batch('a', 'b', 'c'));
    expectExceeded(
      await one.post('/segment/v1/batch', key, {
        batch: [{ type: 'page', anonymousId: 'c' }],
      }),
    );
    const known = { batch: [{ type: 'page', anonymousId: 'a' }] };
    expect((await one.post('/segment/v1/batch', key, known)).status).toBe(200);
    const after = await database.owner.query('select from ingest.events');
    expect(after.rowCount).toBe((before.rowCount ?? 0) + 1);
  });

  test('while they are still fewer than the quota, people who are processed by now make no room smaller', async () => {
    const { project_id, publishable_key: key } = await makeLimited(database, { newProfiles: 4 });
    for (const device of ['a', 'b']) await view(key, device);
    await workOn(database, project_id);
    // Counted by the worker, and remembered by the api: they count once.
    for (const device of ['c', 'd']) {
      await until('the key is read again', async () => (await view(key, device)).status === 202);
    }
    expectExceeded(await view(key, 'e'));
    await workOn(database, project_id);
    expect(await countPeople(project_id)).toBe(4);
  });

  test('server keys make people without a quota, and do not use up that of a page', async () => {
    const project = await makeLimited(database, { newProfiles: 1 });
    const { project_id, publishable_key, server_key } = project;
    for (let at = 0; at < 5; at += 1) expect((await view(server_key, `s${at}`)).status).toBe(202);
    await workOn(database, project_id);
    expect(await countedOf(database, project_id)).toEqual({ profiles: 0, bytes: 0 });
    expect((await view(publishable_key, 's1')).status).toBe(202);
    expect((await view(publishable_key, 'p')).status).toBe(202);
    expectExceeded(await view(publishable_key, 'q'));
  });

  test('each key has its own quota, and each is charged for the people it brought', async () => {
    const { project_id, publishable_key } = await makeLimited(database, { newProfiles: 2 });
    const second = await issueKey(database.deps, project_id, 'publishable');
    await Promise.all([
      view(publishable_key, 'a'),
      view(second, 'b'),
      view(publishable_key, 'c'),
      view(second, 'd'),
    ]);
    expectExceeded(await view(publishable_key, 'e'));
    expectExceeded(await view(second, 'e'));
    await workOn(database, project_id);
    const { rows } = await database.owner.query(
      'select new_profiles, counted_by from quotas.key_days where project_id = $1',
      [project_id],
    );
    expect(rows).toEqual([
      { new_profiles: 2, counted_by: 'process' },
      { new_profiles: 2, counted_by: 'process' },
    ]);
  });

  test('an event that names a device and a person makes two profiles', async () => {
    const { project_id, publishable_key: key } = await makeLimited(database, { newProfiles: 2 });
    const both = { event: 'made', external_id: 'ann', anonymous_id: 'device' };
    expect((await one.post('/v1/events', key, both)).status).toBe(202);
    expectExceeded(await view(key, 'another'));
    await workOn(database, project_id);
    expect(await countPeople(project_id)).toBe(2);
  });

  test(
    'what one process lets in, another counts once a worker has processed it',
    { timeout: TIMEOUT_MS },
    async () => {
      const { project_id, publishable_key: key } = await makeLimited(database, { newProfiles: 3 });
      expect((await view(key, 'a', other)).status).toBe(202);
      for (const device of ['b', 'c', 'd']) await view(key, device);
      await workOn(database, project_id);
      expect(await countPeople(project_id)).toBe(4);
      let tries = 0;
      await until('the other process has read it', async () => {
        tries += 1;
        const { status } = await view(key, `e${tries}`, other);
        expect([202, 429]).toContain(status);
        return status === 429;
      });
      expect((await view(key, 'b', other)).status).toBe(202);
    },
  );

  test('null is no quota', async () => {
    const { publishable_key: key } = await makeLimited(database, {});
    for (let at = 0; at < 20; at += 1) expect((await view(key, `d${at}`)).status).toBe(202);
  });
});

describe('429 quota_exceeded: new profiles by identify', () => {
  const identify = (key: string, body: object, at = one) => at.post('/v1/identify', key, body);

  test('exactly at the bound and one past it, in two processes at once; a refused one stores nothing', async () => {
    const { project_id, publishable_key: key } = await makeLimited(database, { newProfiles: 5 });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        identify(key, { external_id: `user-${at}` }, at % 2 === 0 ? one : other),
      ),
    );
    const taken = answers.filter(({ status }) => status === 202);
    expect(taken).toHaveLength(5);
    for (const answer of answers) if (answer.status !== 202) expectExceeded(answer);
    expect(await countPeople(project_id)).toBe(5);
    expect(await countedOf(database, project_id)).toMatchObject({ profiles: 5 });
  });

  test('people that events named a moment ago take places, also before a worker has processed them', async () => {
    const { project_id, publishable_key: key } = await makeLimited(database, { newProfiles: 3 });
    for (const device of ['a', 'b', 'c']) expect((await view(key, device)).status).toBe(202);
    expectExceeded(await identify(key, { external_id: 'ann' }));
    await workOn(database, project_id);
    expect(await countPeople(project_id)).toBe(3);
    const { publishable_key: other } = await makeLimited(database, { newProfiles: 3 });
    for (const device of ['a', 'b']) await view(other, device);
    // The device counts once: the event named it, and the identify makes its profile.
    const ann = { external_id: 'ann', anonymous_id: 'a' };
    expect((await identify(other, ann)).status).toBe(202);
    expectExceeded(await identify(other, { external_id: 'ben' }));
  });

  test('a linked browser is identified, and sets traits, when the quota is used up', async () => {
    const { publishable_key: key } = await makeLimited(database, { newProfiles: 2 });
    const ann = { external_id: 'ann', anonymous_id: 'device' };
    expect((await identify(key, ann)).status).toBe(202);
    expectExceeded(await identify(key, { external_id: 'ben' }));
    expect((await identify(key, { ...ann, traits: { plan: 'pro' } })).status).toBe(202);
    // A new device would be a new profile.
    expectExceeded(await identify(key, { ...ann, anonymous_id: 'another' }));
  });

  test('a Segment batch with one identify too many fails whole, and may be sent again', async () => {
    const { publishable_key: key } = await makeLimited(database, { newProfiles: 2 });
    const ann = { userId: 'ann', anonymousId: 'device' };
    const batch = [ann, { userId: 'ben' }].map((one) => ({
      type: 'identify',
      messageId: one.userId,
      ...one,
    }));
    for (let time = 0; time < 2; time += 1)
      expectExceeded(await one.post('/segment/v1/batch', key, { batch }));
    expect((await one.post('/segment/v1/identify', key, ann)).status).toBe(200);
  });
});
