// What holds of every transport over HTTPS, whatever it says there.
import { expect, test } from 'vitest';
import type { Link } from '../../src/providers/transport.ts';
import type { HttpsSink } from '../support/https_sink.ts';
import type { toWire } from './wire.ts';

/** Declares the tests. The sink is the transport's counterpart, and forgets between tests. */
export const holdsOverHttps = (
  sink: HttpsSink,
  open: () => Promise<Link>,
  message: ReturnType<typeof toWire>,
): void => {
  test('accepted: several go over one connection', async () => {
    const before = sink.connections;
    const link = await open();
    for (let i = 0; i < 3; i += 1) expect((await link.send(message())).kind).toBe('accepted');
    expect([link.isOpen, sink.requests.length, sink.connections]).toEqual([true, 3, before + 1]);
  });

  test('not_started: a deadline that has passed lets no byte out', async () => {
    const link = await open();
    expect(await link.send(message({ mayStart: () => false }))).toEqual({ kind: 'not_started' });
    expect([link.isOpen, sink.requests]).toEqual([false, []]);
  });

  test('deferred: over a connection that was closed meanwhile, nothing is written', async () => {
    const link = await open();
    // The sink has a connection a moment after us.
    const dropped = () => {
      sink.dropAll();
      return link.isOpen;
    };
    await expect.poll(dropped).toBe(false);
    expect(await link.send(message())).toMatchObject({
      kind: 'deferred',
      reason: 'connection_failed',
    });
    expect(sink.requests).toEqual([]);
  });
};
