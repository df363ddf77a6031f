// What the service does not take: who called it wrong is told, and nobody else is lost with it.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { faultyApi } from '../support/faulty_api.ts';
import { caught, eventsOf, newClient } from './server_told.ts';

const database = testDatabase();
const api = testApi(database);
const way = faultyApi(() => api.url);

beforeEach(async () => {
  api.project = await createProject(database.deps, 'sdk');
  way.seen.length = 0;
  way.decide(() => 'pass');
});

describe('400', () => {
  test('bad events are dropped and told with what is wrong; the others of the batch are stored', async () => {
    const { client, told } = newClient(api, { apiHost: way.url });
    for (let n = 0; n < 6; n += 1) client.track('step_taken', { userId: 'ann', properties: { n } });
    client.track('User Signed-Up', { userId: 'ann' });
    client.track('step_taken', { userId: 'undefined' });
    client.track('step_taken', { userId: 'ann', occurredAt: '2001-01-01T00:00:00Z' });
    await client.close();
    const names = (await eventsOf(database, api)).map(({ properties }) => properties['n']);
    expect(names).toEqual([0, 1, 2, 3, 4, 5]);
    expect(told.map(({ code, call }) => [code, call?.kind])).toEqual(
      Array.from({ length: 3 }, () => ['refused', 'track']),
    );
    expect(told[0]?.issues).toEqual([
      { path: '/event', message: 'must be snake_case: try "user_signed_up"' },
    ]);
    expect(told[0]?.message).toContain('try "user_signed_up"');
    expect(told[0]?.requestId).toMatch(/^req_/);
    expect(told[1]?.message).toContain('never names a person');
    expect(told[2]?.message).toContain('before the start of the timeline');
  });

  test('an event with a reserved name is dropped and told once, never sent again, and holds up nothing', async () => {
    const { client, told } = newClient(api, { apiHost: way.url });
    client.track('step_taken', { userId: 'ann' });
    client.track('email_opened', { userId: 'ann' });
    client.track('step_taken', { userId: 'ann' });
    await client.close();
    expect((await eventsOf(database, api)).map(({ name }) => name)).toEqual([
      'step_taken',
      'step_taken',
    ]);
    expect(told.map(({ code, issues }) => [code, issues])).toEqual([
      [
        'refused',
        [
          {
            path: '/event',
            message: expect.stringMatching(/^"email_opened" is reserved .* "user_email_opened"$/),
          },
        ],
      ],
    ]);
    // The batch, and the rest of it without the refused event.
    expect(way.seen).toHaveLength(2);
  });

  test('more bad events than one answer lists are all found', async () => {
    const { client, told } = newClient(api);
    for (let n = 0; n < 50; n += 1)
      client.track(`Bad ${n}`, { userId: 'null', properties: { ['']: 1 } });
    client.track('step_taken', { userId: 'ann' });
    await client.close();
    expect(told).toHaveLength(50);
    expect(await eventsOf(database, api)).toHaveLength(1);
  });

  test('an answer that does not say which: each is sent alone, and only the bad one is dropped', async () => {
    const { client, told } = newClient(api, { apiHost: way.url });
    let asked = 0;
    way.decide(() => ((asked += 1) === 1 ? { status: 413, body: '<html>too large' } : 'pass'));
    for (let n = 0; n < 4; n += 1)
      client.track('step_taken', { userId: `u${n}`, properties: { n } });
    await client.close();
    expect(told).toEqual([]);
    expect(await eventsOf(database, api)).toHaveLength(4);
    expect(way.seen).toHaveLength(5);
  });

  test('without onError it is written to the console, without the person', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { Trunkline } = await import('../../src/sdk/server/server.ts');
    const client = new Trunkline({ token: api.project.server_key, apiHost: api.url });
    client.track('Not Snake', { userId: 'ann@example.com' });
    await client.close();
    expect(said.mock.calls.flat().join('')).toMatch(/^trunkline: An event was refused \(400\)/);
    expect(said.mock.calls.flat().join('')).not.toContain('ann@');
    said.mockRestore();
  });

  test('a handler that throws stops nothing', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {});
    const onError = () => {
      throw new Error('of the handler');
    };
    const { client } = newClient(api, { onError });
    client.track('Not Snake', { userId: 'ann' });
    client.track('step_taken', { userId: 'ann' });
    await client.close();
    expect(await eventsOf(database, api)).toHaveLength(1);
    expect(said).toHaveBeenCalledOnce();
    said.mockRestore();
  });
});

describe('nothing more is sent, and it is said why, once', () => {
  const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Hello' };
  test.each([
    ['401', 'wrong_token', 'live server key', null],
    [
      '403',
      'wrong_token',
      'server key is needed',
      { status: 403, body: '{"error":"wrong_key_type"}' },
    ],
    ['404', 'wrong_host', 'check apiHost', { status: 404, body: 'nothing here' }],
    ['200 of a page', 'wrong_host', 'check apiHost', page],
    ['a redirect', 'wrong_host', 'check apiHost', { status: 301, headers: { location: '/other' } }],
  ] as const)('%s', async (_what, code, says, answer) => {
    const token = answer === null ? { token: 'svc_secret_live_nobodys' } : {};
    const { client, told } = newClient(api, { apiHost: way.url, ...token });
    if (answer !== null) way.decide(() => answer);
    client.track('step_taken', { userId: 'ann' });
    const error = await caught(() => client.flush());
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(says)]);
    expect(told).toEqual([error]);
    expect(await caught(() => client.track('step_taken', { userId: 'ann' }))).toBe(error);
    const closed = await caught(() => client.close());
    expect([closed.code, closed.unsent.length]).toEqual(['not_sent', 1]);
    expect(closed.message).toContain(says);
    expect(way.seen).toHaveLength(1);
  });
});
