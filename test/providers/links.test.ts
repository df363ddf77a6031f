import { Resolver } from 'node:dns/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Links, LINKS_PER_PROVIDER_MAX } from '../../src/providers/links.ts';
import type { Link } from '../../src/providers/transport.ts';
import { startRelay } from './relay.ts';
import type { Relay } from './relay.ts';

const KEY = 'provider/1';

const networkOf = (allowNetworks: string[]) => ({
  allowNetworks,
  nameServers: new Resolver(),
  relayApiUrl: 'https://relay.invalid',
  cloudApiUrl: null,
  ehloName: null,
  answerTimeoutMs: 60_000,
});
const openLinks = (): Links => {
  const links = new Links(networkOf(['127.0.0.0/8']));
  onTestFinished(() => links.close());
  return links;
};
const take = async (links: Links, { settings }: Relay, key = KEY): Promise<Link> => {
  const outcome = await links.take(key, settings);
  if (outcome.kind === 'failed') throw new Error(JSON.stringify(outcome.outcome));
  return outcome.link;
};
const untilOpen = (relay: Relay, count: number) =>
  vi.waitFor(() => expect(relay.open()).toBe(count), { timeout: 60_000, interval: 10 });

test('a connection that was given back is lent again', async () => {
  const [relay, links] = [await startRelay(), openLinks()];
  const first = await take(links, relay);
  links.give(KEY, first);
  expect(await take(links, relay)).toBe(first);
  expect(relay.connections()).toBe(1);
});

test('a connection is one hand-off’s at a time', async () => {
  const [relay, links] = [await startRelay(), openLinks()];
  const lent = await Promise.all([1, 2, 3].map(() => take(links, relay)));
  expect(new Set(lent).size).toBe(3);
  for (const link of lent) links.give(KEY, link);
  const again = await Promise.all([1, 2, 3].map(() => take(links, relay)));
  expect(new Set(again)).toEqual(new Set(lent));
  expect(relay.connections()).toBe(3);
});

test('other credentials never get a connection that was opened with old ones', async () => {
  const [relay, links] = [await startRelay(), openLinks()];
  const old = await take(links, relay, 'provider/1');
  links.give('provider/1', old);
  expect(await take(links, relay, 'provider/2')).not.toBe(old);
});

test('a connection that the relay has closed is not lent again', async () => {
  const [relay, links] = [await startRelay(), openLinks()];
  const lost = await take(links, relay);
  links.give(KEY, lost);
  relay.dropAll();
  await vi.waitFor(() => expect(lost.isOpen).toBe(false), { timeout: 60_000, interval: 10 });
  const fresh = await take(links, relay);
  expect(fresh).not.toBe(lost);
  expect(fresh.isOpen).toBe(true);
});

test('a connection that is closed is not kept when it is given back', async () => {
  const [relay, links] = [await startRelay(), openLinks()];
  const link = await take(links, relay);
  link.close();
  links.give(KEY, link);
  expect(await take(links, relay)).not.toBe(link);
});

test('no more than five connections are kept; one more is closed', async () => {
  const [relay, links] = [await startRelay(), openLinks()];
  const count = LINKS_PER_PROVIDER_MAX + 1;
  const lent = await Promise.all(Array.from({ length: count }, () => take(links, relay)));
  await untilOpen(relay, count);
  for (const link of lent) links.give(KEY, link);
  await untilOpen(relay, LINKS_PER_PROVIDER_MAX);
});

test('closing closes what is kept', async () => {
  const [relay, links] = [await startRelay(), openLinks()];
  const lent = await Promise.all([1, 2].map(() => take(links, relay)));
  for (const link of lent) links.give(KEY, link);
  links.close();
  await untilOpen(relay, 0);
});

test('where no connection can be had, the failure is the answer', async () => {
  const [relay, links] = [await startRelay(), openLinks()];
  const wrong = { ...relay.settings, password: 'wrong' };
  expect(await links.take(KEY, wrong)).toMatchObject({
    kind: 'failed',
    outcome: { kind: 'deferred', reason: 'authentication_failed' },
  });
  const nobody = { ...relay.settings, smtp_port: 1 };
  expect(await links.take(KEY, nobody)).toMatchObject({ kind: 'failed' });
  expect((await links.take(KEY, relay.settings)).kind).toBe('connected');
});

test('a network that is not allowed is never connected to', async () => {
  const relay = await startRelay();
  const links = new Links(networkOf([]));
  onTestFinished(() => links.close());
  expect((await links.take(KEY, relay.settings)).kind).toBe('failed');
  expect(relay.connections()).toBe(0);
});
