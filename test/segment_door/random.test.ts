// A batch does what its calls do one by one: what is taken, what is refused, what is left out, who is linked.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const RUNS = 60;

const id = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>('ann', 'ben', 'device-7', 7) },
  fc.constantFrom<unknown>('undefined', '', null, ' ', 'x'.repeat(256), {}, true),
);
const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom<unknown>(
    null,
    [1, 'a'],
    { in: { deep: 1 } },
    '\0',
    '\ud800',
    2 ** 60,
    'ann@example.com',
  ),
);
const bag = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.dictionary(fc.constantFrom('a', 'b_in', 'b', 'email', '', '\0', 'x/~y'), value),
  },
  fc.constantFrom<unknown>(null, [], 'text'),
);
const call = fc.record(
  {
    type: fc.constantFrom('track', 'identify', 'page', 'screen', 'alias', 'group'),
    userId: id,
    anonymousId: id,
    previousId: id,
    groupId: id,
    event: fc.oneof(
      fc.constantFrom<unknown>('Made It', 'made', '---', 'Заказ', ' ', 7),
      fc.string(),
    ),
    properties: bag,
    traits: bag,
    context: fc.oneof(bag, fc.constant({ page: { url: 'https://a.test/' }, locale: 'de' })),
    timestamp: fc.constantFrom<unknown>(
      undefined,
      null,
      'soon',
      '2001-01-01T00:00:00Z',
      new Date(),
    ),
  },
  { requiredKeys: ['type'] },
);

const makeProject = () => createProject(database.deps, 'random');

type Kept = { events: unknown[]; traits: unknown[]; links: unknown[] };
const readKept = async ({ project_id }: NewProject): Promise<Kept> => {
  const rowsOf = async (text: string) => (await database.owner.query(text, [project_id])).rows;
  return {
    events: await rowsOf(
      'select name, external_id, anonymous_id, properties from ingest.events where project_id = $1 order by event_id',
    ),
    traits: await rowsOf(
      `select known.kind, known.value as person, trait.key, trait.value from profiles.traits as trait
       join identity.identities as known using (project_id, identity_id)
       where project_id = $1 order by 1, 2, 3`,
    ),
    links: await rowsOf(
      `select anonymous_id, external_id, status from identity.links where project_id = $1 order by link_id`,
    ),
  };
};

test('whatever is in a batch: the same as each call alone', async () => {
  let [taken, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 1, maxLength: 8 }),
      fc.constantFrom('server_key' as const, 'publishable_key' as const),
      async (given, keyName) => {
        // As they come over the wire, each known by an id of its own.
        const calls = JSON.parse(
          JSON.stringify(given.map((one, at) => ({ ...one, messageId: `m-${at}` }))),
        ) as { type: string }[];
        const [together, alone] = [await makeProject(), await makeProject()];
        const whole = await api.call('POST', '/segment/v1/batch', {
          key: together[keyName],
          body: { batch: calls },
        });
        expect(whole.status).toBe(200);

        const expected: { refused: string[]; left_out: string[] } = { refused: [], left_out: [] };
        for (const [at, one] of calls.entries()) {
          const { status, body } = await api.call('POST', `/segment/v1/${one.type}`, {
            key: alone[keyName],
            body: one,
          });
          expect([200, 400, 409]).toContain(status);
          const pathsOf = (notes: { path: string }[] = [{ path: '' }]) =>
            notes.map(({ path }) => `/batch/${at}${path}`);
          if (status === 200) expected.left_out.push(...pathsOf(body.left_out ?? []));
          else expected.refused.push(...pathsOf(body.issues));
          if (status === 200) taken += 1;
          else refused += 1;
        }
        const pathsOf = (notes: { path: string }[] = []) => notes.map(({ path }) => path);
        expect(pathsOf(whole.body.refused)).toEqual(expected.refused);
        expect(pathsOf(whole.body.left_out)).toEqual(expected.left_out);

        const kept = await readKept(together);
        expect(kept).toEqual(await readKept(alone));

        // Sent again, as a library does that had no answer: nothing more comes of it.
        await api.call('POST', '/segment/v1/b', { key: together[keyName], body: { batch: calls } });
        expect((await readKept(together)).events).toEqual(kept.events);
      },
    ),
    { numRuns: RUNS, interruptAfterTimeLimit: 25_000 },
  );
  expect(Math.min(taken, refused)).toBeGreaterThan(RUNS / 2);
});
