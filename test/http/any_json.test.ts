import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ErrorBody, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const RUNS = 300;
const now = Date.now();

/** Texts as attackers and broken clients write them. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  fc.constantFrom('\u0000', '\ud800', '__proto__', 'constructor', 'null', '', ' ', 'a'.repeat(300)),
);
const moment = fc.oneof(
  fc
    .date({ min: new Date(now - 86_400_000 * 20), max: new Date(now), noInvalidDate: true })
    .map((at) => at.toISOString()),
  fc.date({ noInvalidDate: true }).map((at) => at.toISOString()),
  text,
);
const anything = fc.anything({
  key: text,
  values: [text, fc.double(), fc.integer(), fc.boolean(), fc.constant(null)],
  maxDepth: 4,
});
const scalar = fc.oneof(text, fc.double(), fc.maxSafeInteger(), fc.boolean());
const goodName = fc.constantFrom('signed_up', 'a', 'page_viewed');

/** Events of which many are good, and the others nearly so. */
const event = fc.record(
  {
    event: fc.oneof({ weight: 5, arbitrary: goodName }, text, anything),
    external_id: fc.oneof({ weight: 3, arbitrary: fc.constantFrom('ann', 'bob') }, text, anything),
    anonymous_id: fc.oneof(text, anything),
    properties: fc.oneof({ weight: 3, arbitrary: fc.dictionary(text, scalar) }, anything),
    occurred_at: moment,
    message_id: fc.oneof({ weight: 3, arbitrary: fc.constantFrom('m-1', 'm-2') }, text),
    more: anything,
  },
  { requiredKeys: [] },
);
const goodEvent = fc.record(
  {
    event: goodName,
    external_id: fc.constantFrom('ann', 'bob'),
    properties: fc.dictionary(fc.string({ minLength: 1 }), fc.oneof(fc.boolean(), fc.integer())),
    message_id: fc.uuid(),
  },
  { requiredKeys: ['event', 'external_id'] },
);

const one = fc.oneof(
  { weight: 4, arbitrary: event },
  { weight: 2, arbitrary: goodEvent },
  anything,
);
const batch = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      events: fc.array(fc.oneof({ weight: 5, arbitrary: goodEvent }, event), { maxLength: 6 }),
    }),
  },
  fc.record({ events: fc.array(goodEvent, { maxLength: 55 }) }),
  fc.record({ events: anything, more: anything }, { requiredKeys: [] }),
  anything,
);

const TABLES = ['ingest.events', 'ingest.message_ids', 'ingest.pending'];
const count = async (): Promise<number[]> => {
  const columns = TABLES.map((table) => `(select count(*)::int from ${table})`);
  const { rows } = await database.owner.query({
    text: `select ${columns.join(', ')}`,
    rowMode: 'array',
  });
  return rows[0] ?? [];
};

const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '[';
  }
};

test.each([
  ['/v1/events', one],
  ['/v1/events/batch', batch],
])(
  'whatever is posted to %s is accepted, or refused as documented and not stored',
  async (path, body) => {
    let seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        const before = await count();
        const answer = await api.call('POST', path, {
          key: api.project.server_key,
          body: toJson(value),
        });
        seen = seen.add(answer.status);
        const after = await count();
        if (answer.status === 202) {
          const { accepted, duplicates, event_ids } = answer.body;
          expect(event_ids).toHaveLength(accepted + duplicates);
          expect(after[0]).toBe((before[0] ?? 0) + accepted);
          return;
        }
        expect([400, 413, 415]).toContain(answer.status);
        expect(ErrorBody.parse(answer.body).status).toBe(answer.status);
        expect(after).toEqual(before);
      }),
      { numRuns: RUNS },
    );
    // Both sides of the promise were tried.
    expect([...seen]).toEqual(expect.arrayContaining([202, 400]));
  },
);

test('whatever bytes are posted are refused as documented', async () => {
  const before = await count();
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom('/v1/events', '/v1/events/batch'),
      async (body, path) => {
        const answer = await api.call('POST', path, { key: api.project.publishable_key, body });
        expect(answer.status).toBe(400);
        ErrorBody.parse(answer.body);
      },
    ),
    { numRuns: RUNS },
  );
  expect(await count()).toEqual(before);
});
