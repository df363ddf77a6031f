// Attacks: a publishable key uses its quota of new profiles up, to find out who exists.
import { describe, expect, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { expectRefusal } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { makeLimited, testProcess } from './api_with_quotas.ts';
import type { Process } from './api_with_quotas.ts';

const database = testDatabase();

const one = testProcess(database);
const other = testProcess(database);

type Named = { external?: string; anonymous?: string };
const ids = ({ external, anonymous }: Named) => ({
  ...(external === undefined ? {} : { external_id: external }),
  ...(anonymous === undefined ? {} : { anonymous_id: anonymous }),
});
const theirs = ({ external, anonymous }: Named) => ({
  ...(external === undefined ? {} : { userId: external }),
  ...(anonymous === undefined ? {} : { anonymousId: anonymous }),
});
type Ask = (at: Process, key: string, named: Named) => Promise<Answer>;

const view: Ask = (at, key, named) =>
  at.post('/v1/events', key, { event: 'page_viewed', ...ids(named) });
const viewInBatch: Ask = (at, key, named) =>
  at.post('/v1/events/batch', key, { events: [{ event: 'page_viewed', ...ids(named) }] });
const identify: Ask = (at, key, named) => at.post('/v1/identify', key, ids(named));
const track: Ask = (at, key, named) =>
  at.post('/segment/v1/track', key, { event: 'Viewed', ...theirs(named) });
const callIdentify: Ask = (at, key, named) => at.post('/segment/v1/identify', key, theirs(named));
const callInBatch: Ask = (at, key, named) =>
  at.post('/segment/v1/b', key, { batch: [{ type: 'identify', ...theirs(named) }] });
const callAlias: Ask = (at, key, { external, anonymous }) =>
  at.post('/segment/v1/alias', key, { userId: external, previousId: anonymous });

const WAYS: Record<string, Ask> = {
  'POST /v1/events': view,
  'POST /v1/events/batch': viewInBatch,
  'POST /v1/identify': identify,
  'POST /segment/v1/track': track,
  'POST /segment/v1/identify': callIdentify,
  'POST /segment/v1/b': callInBatch,
};

const comparable = ({ status, headers, body }: Answer) => ({
  status,
  retryAfter: Math.round(Number(headers.get('retry-after')) / 60),
  ...body,
  request_id: '',
});

/** Creates a project with a person that a server identified, an erased person, and a linked browser. */
const openShop = async (placesLeft: number) => {
  const shop = await makeLimited(database, { newProfiles: 2 + placesLeft });
  const { publishable_key: key, server_key, project_id } = shop;
  for (const external_id of ['known', 'gone'])
    await one.post('/v1/identify', server_key, { external_id, anonymous_id: `of ${external_id}` });
  await one.post('/v1/profiles/external_id:gone/erase', server_key, {});
  const linked = { external: 'ann', anonymous: 'browser of ann' };
  expect((await identify(one, key, linked)).status).toBe(202);
  return { key, server_key, project_id, linked };
};

describe('attack: 429 quota_exceeded tells who exists', () => {
  test.each(Object.entries(WAYS))(
    '%s: a known, an erased and an unknown person are refused alike, in every process',
    async (_, ask) => {
      const { key } = await openShop(0);
      for (const at of [one, other]) {
        const answers = new Set<string>();
        for (const external of ['known', 'gone', 'stranger', 'ann']) {
          for (const named of [
            { external },
            { external, anonymous: 'new device' },
            { external, anonymous: 'of known' },
          ]) {
            if (external === 'known' && named.anonymous === 'of known') continue;
            const answer = await ask(at, key, named);
            expectRefusal(answer, 'quota_exceeded');
            expect(answer.body.reason).toBe('new_profiles');
            answers.add(JSON.stringify(comparable(answer)));
          }
        }
        expect(answers.size).toBe(1);
      }
    },
  );

  test.each(Object.entries(WAYS))(
    '%s: a browser that was linked before goes on, in every process; with another person it does not',
    async (_, ask) => {
      const { key, linked } = await openShop(0);
      for (const at of [one, other]) {
        expect((await ask(at, key, linked)).status).toBeLessThan(300);
        expectRefusal(await ask(at, key, { ...linked, external: 'known' }), 'quota_exceeded');
        expectRefusal(await ask(at, key, { ...linked, external: 'stranger' }), 'quota_exceeded');
        expectRefusal(await ask(at, key, { external: 'ann' }), 'quota_exceeded');
      }
    },
  );

  test('an alias of the Segment-compatible API follows the same rule', async () => {
    const { key, linked } = await openShop(0);
    expect((await callAlias(one, key, linked)).status).toBe(200);
    for (const external of ['known', 'stranger'])
      for (const anonymous of ['browser of ann', 'new device'])
        expectRefusal(await callAlias(one, key, { external, anonymous }), 'quota_exceeded');
  });

  test('devices that exist go on alone, and a link that was undone proves nothing', async () => {
    const { key, server_key, linked } = await openShop(0);
    const { anonymous } = linked;
    for (const at of [one, other]) {
      expect((await view(at, key, { anonymous })).status).toBe(202);
      expectRefusal(await view(at, key, { anonymous: 'new device' }), 'quota_exceeded');
    }
    const { rows } = await database.owner.query(
      "select link_id from identity.links where anonymous_id = 'browser of ann' and status = 'active'",
    );
    for (const { link_id } of rows)
      await one.post(`/v1/identity-links/${link_id}/undo`, server_key, {});
    expectRefusal(await view(one, key, linked), 'quota_exceeded');
    expect((await view(one, key, { anonymous })).status).toBe(202);
  });

  test('of a batch with one item that is not proven nothing is stored', async () => {
    const { key, linked, project_id } = await openShop(0);
    const batch = (...named: Named[]) =>
      one.post('/v1/events/batch', key, {
        events: named.map((one) => ({ event: 'in_batch', ...ids(one) })),
      });
    expectRefusal(await batch(linked, { external: 'known' }, linked), 'quota_exceeded');
    expect((await batch(linked, { anonymous: 'browser of ann' }, linked)).status).toBe(202);
    const { rowCount } = await database.owner.query(
      "select from ingest.events where project_id = $1 and name = 'in_batch'",
      [project_id],
    );
    expect(rowCount).toBe(3);
  });
});

describe('attack: the last places of the quota tell who exists', () => {
  test.each(Object.entries(WAYS))(
    '%s: a new device with a person needs two places, whether or not the person exists',
    async (_, ask) => {
      for (const external of ['known', 'stranger', 'gone']) {
        const { key } = await openShop(1);
        expectRefusal(await ask(one, key, { external, anonymous: 'new' }), 'quota_exceeded');
        const fits = await openShop(2);
        const answer = await ask(one, fits.key, { external, anonymous: 'new' });
        expect(answer.status, external).toBeLessThan(300);
      }
    },
  );

  test.each(Object.entries(WAYS))(
    '%s: the last place is gone after one person, whether or not that person exists',
    async (_, ask) => {
      for (const external of ['known', 'stranger', 'gone']) {
        const { key, project_id } = await openShop(1);
        expect((await ask(one, key, { external })).status, external).toBeLessThan(300);
        await workOn(database, project_id);
        expectRefusal(await ask(one, key, { external: 'next' }), 'quota_exceeded');
        expectRefusal(await view(one, key, { anonymous: 'next' }), 'quota_exceeded');
      }
    },
  );

  test('a request that finds no room closes the quota, so that the places left cannot be counted', async () => {
    const { key } = await openShop(3);
    const people = Array.from({ length: 4 }, (_, at) => ({
      event: 'made',
      external_id: `person ${at}`,
    }));
    expectRefusal(await one.post('/v1/events/batch', key, { events: people }), 'quota_exceeded');
    expectRefusal(await view(one, key, { anonymous: 'new' }), 'quota_exceeded');
    expectRefusal(await identify(one, key, { external: 'known' }), 'quota_exceeded');
  });
});

test('before the quota is used up known people take no place of it', async () => {
  const { key, project_id } = await openShop(3);
  for (const ask of Object.values(WAYS))
    expect((await ask(one, key, { external: 'known' })).status).toBeLessThan(300);
  await workOn(database, project_id);
  const { rows } = await database.owner.query(
    'select sum(new_profiles)::int as profiles from quotas.key_days where project_id = $1',
    [project_id],
  );
  expect(rows).toEqual([{ profiles: 2 }]);
  for (const external of ['a', 'b', 'c'])
    expect((await identify(one, key, { external })).status).toBe(202);
});
