import { expect, test } from 'vitest';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

test('202: an event is answered once it is in the timeline', async () => {
  const { status, body } = await api.call('POST', '/v1/events', {
    key: api.project.publishable_key,
    body: { event: 'user_signed_up', external_id: 'ann', properties: { plan: 'pro' } },
  });
  expect(body).toEqual({ accepted: 1, duplicates: 0, event_ids: [expect.any(String)] });
  expect(status).toBe(202);
  const { rows } = await database.owner.query(
    'select event_id, name, properties from ingest.events',
  );
  expect(rows).toEqual([
    { event_id: body.event_ids[0], name: 'user_signed_up', properties: { plan: 'pro' } },
  ]);
});
