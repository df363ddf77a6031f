// More violations of counts: of those that are shown (I20), and of the cap per recipient (I8).
import { copy } from './plants.ts';
import type { Plant } from './plants.ts';

/** How it comes to be broken. */
export const plantsOfCounts: readonly (readonly [id: string, how: string, plant: Plant])[] = [
  [
    'I20',
    'a ramp of which less was used than was handed over',
    async ({ client }) => {
      await client.query(
        `update providers.providers set ramp_started_on = '2026-01-01', ramp_stages = '{50}'`,
      );
      await client.query(
        `insert into providers.paces (project_id, provider_id, ramp_day, ramp_count)
        select project_id, provider_id, '2026-01-01', 0 from providers.providers`,
      );
    },
  ],
  [
    'I20',
    'a counter that counts what did not happen',
    ({ client }) =>
      client.query(
        `insert into segments.counters
        select project_id, identity_id, gen_random_uuid(), '1970-01-01', 7, now(), now() from identity.identities`,
      ),
  ],
  [
    'I8',
    'a fourth email of browser-triggered runs to one mailbox in a day',
    async ({ client }) => {
      for (let at = 0; at < 4; at += 1)
        await copy(client, 'delivery.sends', {
          send_id: crypto.randomUUID(),
          run_id: crypto.randomUUID(),
          mailbox_key: '\\x6d',
          limits: { browser_triggered: true, zone: 'UTC' },
        });
    },
  ],
];
