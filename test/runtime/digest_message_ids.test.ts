import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { digestMessageIds } from '../../src/runtime/digest_message_ids.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { keyIn, keyOf, newEvent, YEAR } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const OCCURRED_AT = `${YEAR}-01-31T00:00:00Z`;
const SPACES = (['server', 'publishable'] as const).flatMap((keyKind) =>
  (['event', 'identify'] as const).map((of) => ({ keyKind, of })),
);
const digest = () =>
  withClient(database.url, (client) => digestMessageIds(client, database.deps.keys));

test('message ids that were kept as text stay taken, with what was noted of them, and the text is gone', async () => {
  const [one, other] = [newId(), newId()];
  const kept = newEvent({ occurred_at: OCCURRED_AT });
  await acceptEvents(database.deps.db, one, newId(), [kept]);
  await database.owner.query(`
    create table ingest.message_texts (
      project_id uuid, message_id text, event_id uuid, occurred_at timestamptz(3), conflicts integer,
      conflicted_at timestamptz(3), identity_id uuid, primary key (project_id, message_id)
    )`);
  const { event_id: eventId } = kept;
  await database.owner.query(
    `insert into ingest.message_texts values ($1, 'm', $2, $3, 3, $3, null)`,
    [one, eventId, OCCURRED_AT],
  );
  await database.owner.query(
    `insert into ingest.message_texts
    select $1, 'm-' || n, gen_random_uuid(), now() from generate_series(1, 7000) as n`,
    [other],
  );
  await digest();

  const { rows } = await database.owner.query(
    'select message_key, event_id, conflicts from ingest.message_ids where project_id = $1',
    [one],
  );
  expect(rows).toEqual([{ message_key: keyOf('m'), event_id: eventId, conflicts: 3 }]);
  const again = newEvent({ message_id: 'm' });
  expect(await acceptEvents(database.deps.db, one, newId(), [again])).toEqual({
    stored_ids: [eventId],
    duplicates: [true],
  });
  const { rowCount } = await database.owner.query(
    'select from ingest.message_ids where project_id = $1',
    [other],
  );
  // Of these no event is there: each stays taken for both kinds of key, as an event and as an identify.
  expect(rowCount).toBe(4 * 7_000);
  const fromPage = newEvent({ key_kind: 'publishable', source: 'browser' });
  const { rows: gone } = await database.owner.query(
    `select event_id from ingest.message_ids where project_id = $1 and message_key = any ($2)`,
    [other, SPACES.map((space) => keyIn(space, 'm-1'))],
  );
  expect(new Set(gone.map(({ event_id }) => event_id)).size, 'one event id for each').toBe(4);
  const repeated = {
    ...fromPage,
    message_key: keyIn({ keyKind: 'publishable', of: 'event' }, 'm'),
  };
  expect(await acceptEvents(database.deps.db, one, newId(), [repeated])).toEqual({
    stored_ids: [fromPage.event_id],
    duplicates: [false],
  });
  const { rows: texts } = await database.owner.query(
    `select to_regclass('ingest.message_texts') as left_over`,
  );
  expect(texts).toEqual([{ left_over: null }]);
  await digest();
});
