// An attack that was found: a page signs up addresses that the relay refuses, so that no email leaves the project.
import { expect, test } from 'vitest';
import { IDENTICAL_REFUSALS_MAX } from '../../src/delivery/refusal_streak.ts';
import { attackedWorld, REMEMBER, TEST_TIMEOUT_MS } from './attacked_world.ts';

const { world, asServer, batch, mailing, settled } = attackedWorld();
const ROUNDS = 3;
const REFUSED = 2 * IDENTICAL_REFUSALS_MAX;

test(
  'recipients that a page chose and the relay refuses hold no email of a server',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const access = { code: 550, text: '5.7.1 Recipient address rejected: Access denied' };
    world.sink.play('rcpt', access, { when: ({ to }) => String(to).includes('@nowhere-') });
    const signUp = await mailing({ subject: 'Welcome', ...REMEMBER });
    const order = await mailing({ subject: 'Your order', source: 'server' });
    const email = 'ann@shop.test';
    await asServer('/v1/identify', { external_id: 'ann', traits: { email } });

    for (let round = 1; round <= ROUNDS; round += 1) {
      const pages = Array.from({ length: REFUSED }, (_, at) => `${round}-${at}`);
      await batch(
        pages.map((page) => ({
          event: signUp,
          anonymous_id: page,
          properties: { email: `a@nowhere-${page}.test` },
        })),
      );
      const stands = Object.keys(await settled(signUp, round * REFUSED));
      expect(stands).toEqual([expect.stringMatching(/^rejected\//)]);
      await asServer('/v1/events', { event: order, external_id: 'ann' });
      expect(await settled(order, round)).toEqual({ accepted: round });
    }
  },
);
