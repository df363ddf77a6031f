// What the server SDK refuses at once, in words that say what to do.
import { describe, expect, test } from 'vitest';
import { Trunkline, TrunklineError } from '../../src/sdk/server/server.ts';
import type { TrackOptions, TrunklineOptions } from '../../src/sdk/server/server.ts';
import { caught } from './server_told.ts';

const TOKEN = 'svc_secret_live_0123456789';
/** Nobody listens there, and nothing is sent before anybody could. */
const NOBODY = { token: TOKEN, apiHost: 'http://127.0.0.1:9', flushIntervalMs: 3_600_000 };
const clientOf = (options: Partial<TrunklineOptions> = {}) =>
  new Trunkline({ ...NOBODY, ...options });
const wrong = (value: object) => value as never;

describe('new Trunkline', () => {
  test.each<[string, object, string]>([
    ['no options', null as unknown as object, '{ token, apiHost }'],
    ['no token', { apiHost: 'https://a.test' }, 'server key'],
    ['a publishable key', { ...NOBODY, token: 'svc_pub_live_0123456789' }, 'server key'],
    ['no address', { token: TOKEN }, 'apiHost must be an address'],
    ['an address without a scheme', { ...NOBODY, apiHost: 'a.test' }, 'apiHost must be an address'],
    ['an address with a password', { ...NOBODY, apiHost: 'https://a:b@a.test' }, 'apiHost'],
    ['an address with a query', { ...NOBODY, apiHost: 'https://a.test?b' }, 'apiHost'],
    ['a batch that the service would not take', { ...NOBODY, flushSize: 51 }, 'from 1 to 50'],
    ['a number that is none', { ...NOBODY, queueCallsMax: NaN }, 'queueCallsMax'],
    ['an option that does not exist', { ...NOBODY, flushAt: 20 }, 'flushAt is no option'],
    ['a handler that is none', { ...NOBODY, onError: 1 }, 'onError must be a function'],
  ])('TypeError: %s', async (_what, options, says) => {
    const error = await caught(() => new Trunkline(wrong(options)));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(says);
  });

  test('an address may end with a slash and hold a path', () => {
    for (const apiHost of ['https://a.test/', 'https://a.test/trunkline//'])
      expect(() => clientOf({ apiHost })).not.toThrow();
  });
});

describe('track, identify, alias', () => {
  test.each<[string, (client: Trunkline) => void, string]>([
    ['no name', (one) => one.track('', { userId: 'ann' }), 'name of an event'],
    ['no options', (one) => one.track('a', wrong(null as unknown as object)), 'needs an object'],
    ['nobody', (one) => one.track('a', {}), 'userId or anonymousId'],
    ['an empty id', (one) => one.track('a', { userId: '' }), 'userId must be a string'],
    ['an id that is a number', (one) => one.track('a', wrong({ userId: 7 })), 'userId must be'],
    [
      'a member that is misspelt',
      (one) => one.track('a', { userId: 'a', propertys: {} } as TrackOptions),
      'knows no propertys',
    ],
    [
      'properties in a list',
      (one) => one.track('a', wrong({ userId: 'a', properties: [] })),
      'an object',
    ],
    [
      'a number that is not finite',
      (one) => one.track('a', { userId: 'a', properties: { n: NaN } }),
      'n is NaN',
    ],
    [
      'a BigInt',
      (one) => one.track('a', wrong({ userId: 'a', properties: { n: 1n } })),
      'n is a BigInt',
    ],
    [
      'no moment',
      (one) => one.track('a', { userId: 'a', occurredAt: new Date(NaN) }),
      'occurredAt',
    ],
    ['nobody to identify', (one) => one.identify(wrong({ traits: {} })), 'userId is needed'],
    ['no traits', (one) => one.identify(wrong({ userId: 'a', traits: 'b' })), 'traits must be'],
    ['half an alias', (one) => one.alias(wrong({ userId: 'a' })), 'anonymousId is needed'],
    [
      'more than a request holds',
      (one) => one.track('a', { userId: 'a', properties: { a: 'x'.repeat(1024 * 1024) } }),
      'bytes of JSON',
    ],
  ])('TypeError: %s', async (_what, call, says) => {
    const client = clientOf();
    const error = await caught(() => call(client));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(says);
    expect(client.pending).toBe(0);
  });

  test('what cannot be written as JSON is a TypeError, too', async () => {
    const round: Record<string, unknown> = {};
    round['self'] = round;
    const error = await caught(() => clientOf().identify({ userId: 'a', traits: round }));
    expect(error).toBeInstanceOf(TypeError);
  });
});

describe('queue_full', () => {
  test('taken at the bound, refused one past it, and said what to do', async () => {
    const client = clientOf({ queueCallsMax: 3, flushSize: 50 });
    for (let n = 0; n < 3; n += 1) client.track('a', { userId: 'ann' });
    const error = await caught(() => client.track('a', { userId: 'ann' }));
    expect(error).toBeInstanceOf(TrunklineError);
    expect(error.code).toBe('queue_full');
    expect(error.message).toMatch(/3 calls wait.*flush\(\).*queueCallsMax \(3\)/);
    expect(client.pending).toBe(3);
  });

  test('counts bytes as well', async () => {
    const client = clientOf({ queueBytesMax: 2_048 });
    const properties = { a: 'x'.repeat(800) };
    client.track('a', { userId: 'ann', properties });
    client.track('a', { userId: 'ann', properties });
    expect((await caught(() => client.track('a', { userId: 'a', properties }))).code).toBe(
      'queue_full',
    );
  });
});

test('flush and close with nothing to send resolve, and a closed client takes nothing more', async () => {
  const client = clientOf();
  await client.flush();
  await client.close();
  await client.close();
  const error = await caught(() => client.track('a', { userId: 'ann' }));
  expect([error.code, error.message]).toEqual([
    'closed',
    expect.stringContaining('make a new one'),
  ]);
  expect(await caught(() => client.flush({ timeoutMs: -1 }))).toBeInstanceOf(TypeError);
});
