// A relay that takes only what the account owns: the address is removed from it, and added again.
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { RELAY_KINDS } from './relay_kinds.ts';
import { relayWorld } from './relay_world.ts';
import { report } from './report.ts';

const TIMEOUT_MS = 600_000;
const SENDS = 150;

describe.each(RELAY_KINDS)('$name does not let the account use the sender', (kind) => {
  const at = relayWorld(kind);
  const waitUntilParked = async () => {
    await until('the provider is parked', async () => (await at.provider()).status === 'parked');
    expect((await at.provider()).parked).toMatchObject({ reason: 'sender_not_verified' });
    await until('none is being handed over', async () => {
      const { handing_off: begun = 0, rejected = 0 } = await at.counts();
      expect(rejected).toBe(0);
      return begun === 0;
    });
  };
  const waitUntilDone = () => until('all are handed over', () => at.isDone(), TIMEOUT_MS / 3, 500);

  test(
    'the provider parks; the relay corrected or the record with another address sends all',
    { timeout: TIMEOUT_MS },
    async () => {
      await at.relay().change({ senders: ['sales@shop.test'] });
      await at.signUp(SENDS);
      await waitUntilParked();
      expect(await at.testProvider()).toBe(422);
      await at.relay().change({ senders: ['sales@shop.test', 'hello@shop.test'] });
      // Processes of the relay that are in use read their configuration once they are free.
      await until('a test message is taken', async () => (await at.testProvider()) === 200);
      await waitUntilDone();

      // A connection that is open goes on under the rules that it began with.
      await at.relay().end();
      await at.relay().change({ senders: ['sales@shop.test'] });
      await at.relay().begin();
      await at.signUp(SENDS);
      await waitUntilParked();
      expect(await at.save({ from_email: 'sales@shop.test' })).toBe(200);
      await until('a test message is taken', async () => (await at.testProvider()) === 200);
      await waitUntilDone();

      const figures = await at.figures();
      report(`${kind.name}, an unowned sender, twice`, figures);
      const all = { taken: 2 * SENDS, twice: 0, lost: 0, rejected: 0, unknown: 0 };
      expect(figures).toMatchObject(all);
    },
  );
});
