// More violations of I20: each is of one count that is shown.
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
];
