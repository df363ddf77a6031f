import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SYSTEM_EVENTS } from '../../src/ingest/ingest.ts';
import { isReserved, RESERVED_PREFIX } from '../../src/ingest/reserved_names.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const NAMES = [...Object.keys(SYSTEM_EVENTS), 'email_verified', 'email_x'];

test('Postgres and the service agree which events count, whatever they are called', async () => {
  const names = fc.sample(
    fc.oneof(
      fc.constantFrom(...NAMES, 'email', 'email_', 'EMAIL_sent', 'xemail_sent', 'emailxsent', ''),
      fc.string().map((text) => `${RESERVED_PREFIX}${text.replaceAll('\0', '')}`),
      fc.string().map((text) => text.replaceAll('\0', '')),
    ),
    400,
  );
  const { rows } = await database.owner.query<{ name: string; source: string; counts: boolean }>(
    `select name, source, ingest.counts(name, source) as counts
    from unnest($1::text[]) as name cross join unnest(array['browser', 'server', 'system']) as source`,
    [names],
  );
  expect(rows).toHaveLength(3 * names.length);
  for (const { name, source, counts } of rows)
    expect(counts, `${name} of ${source}`).toBe(source === 'system' || !isReserved(name));
});
