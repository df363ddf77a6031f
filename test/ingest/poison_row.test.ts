import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { BATCH_EVENTS_MAX } from '../../src/ingest/schema.ts';
import { untilWaiting } from '../base/connections.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { keyIn } from './some_events.ts';

const database = testDatabase();
const api = testApi(database);

/** Nothing is wrong with it that validation could see: only this database refuses to keep it. */
const POISON = 'poison';
const GOOD = 'good';
const CLIENTS = 15;

/** Counts what was tried, also by transactions that were rolled back: sequences are not. */
const COUNTING = `
  create sequence public.tries;
  create function public.count_try() returns trigger language plpgsql security definer as $$
    begin
      perform nextval('public.tries');
      return null;
    end;
  $$;
  create trigger count_try after insert on ingest.message_ids
    for each statement execute function public.count_try();
  alter table ingest.events add constraint events_name_no_poison check (name <> '${POISON}');
`;

let holder: pg.Client;
beforeAll(async () => {
  holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query(COUNTING);
});
afterAll(() => holder.end());
beforeEach(() => database.owner.query("select setval('public.tries', 1)"));

const countTries = async (): Promise<number> => {
  const { rows } = await database.owner.query<{ tries: number }>(
    'select last_value::integer - 1 as tries from public.tries',
  );
  return rows[0]?.tries ?? 0;
};

const eventOf = (event: string, message_id: string) => ({ event, external_id: 'ann', message_id });
const batchOf = (prefix: string, poisonAt: number | null) => ({
  events: Array.from({ length: BATCH_EVENTS_MAX }, (_, at) =>
    eventOf(at === poisonAt ? POISON : GOOD, `${prefix}-${at}`),
  ),
});
const post = (body: object, key = api.project.server_key): Promise<Answer> =>
  api.call('POST', 'events' in body ? '/v1/events/batch' : '/v1/events', { key, body });

/** The keys that a message id may have: requests of one flush come with either kind of key. */
const keysOf = (messageId: string): string[] =>
  (['server', 'publishable'] as const).map((keyKind) => keyIn({ keyKind, of: 'event' }, messageId));

/** Which of some message ids are kept, each with its event. */
const storedOf = async (messageIds: readonly string[]): Promise<string[]> => {
  const { rows } = await database.owner.query<{ message_key: string; has_event: boolean }>(
    `select known.message_key, event.event_id is not null as has_event
    from ingest.message_ids as known left join ingest.events as event using (event_id)
    where known.message_key = any ($1)`,
    [messageIds.flatMap(keysOf)],
  );
  expect(
    rows.filter((row) => !row.has_event),
    'no message id without its event',
  ).toEqual([]);
  const kept = new Set(rows.map((row) => row.message_key));
  return messageIds.filter((id) => keysOf(id).some((key) => kept.has(key)));
};

/** Sends bodies so that all but the first share a flush. */
const sendTogether = async (bodies: object[]): Promise<Answer[]> => {
  const answers: Promise<Answer>[] = [];
  await holder.query('begin; lock table ingest.pending in exclusive mode');
  try {
    for (const [at, body] of bodies.entries()) {
      const { server_key, publishable_key } = api.project;
      answers.push(post(body, at % 2 === 0 ? server_key : publishable_key));
      if (at === 0) await untilWaiting(database);
    }
    // When a later request is answered, the earlier ones have come as far as the flush.
    await api.call('GET', '/v1/suppressions', { key: api.project.server_key });
  } finally {
    await holder.query('commit');
    await Promise.allSettled(answers);
  }
  return Promise.all(answers);
};

const expectOnlyCulprit = (answers: Answer[], culprit: number): void => {
  for (const [at, answer] of answers.entries()) {
    if (at === culprit) expectRefusal(answer, 'internal_error');
    else expect([at, answer.status, answer.body.duplicates]).toEqual([at, 202, 0]);
  }
};

test.each([1, 8, CLIENTS - 1])(
  '500 internal_error: one row that cannot be stored fails alone, as request %i of its flush',
  async (culprit) => {
    const prefix = `single-${culprit}`;
    const bodies = Array.from({ length: CLIENTS }, (_, at) =>
      eventOf(at === culprit ? POISON : GOOD, `${prefix}-${at + 100}`),
    );
    expectOnlyCulprit(await sendTogether(bodies), culprit);
    const good = bodies.filter((_, at) => at !== culprit);
    expect(await storedOf(bodies.map(({ message_id }) => message_id))).toEqual(
      good.map(({ message_id }) => message_id),
    );
    // The first flush, the shared one or two, and two halves at each level down to the culprit.
    expect(await countTries()).toBeLessThanOrEqual(3 + 2 * Math.ceil(Math.log2(CLIENTS)));
  },
);

test('500 internal_error: one row in the middle of a batch fails the batch, whole and alone', async () => {
  const bodies = Array.from({ length: 5 }, (_, at) =>
    batchOf(`batch-${at}`, at === 2 ? BATCH_EVENTS_MAX / 2 : null),
  );
  expectOnlyCulprit(await sendTogether(bodies), 2);
  for (const [at, { events }] of bodies.entries())
    expect(await storedOf(events.map(({ message_id }) => message_id))).toHaveLength(
      at === 2 ? 0 : BATCH_EVENTS_MAX,
    );
});

test('what failed is not tried again by itself, and can be sent again once it can be stored', async () => {
  expectRefusal(await post(eventOf(POISON, 'again')), 'internal_error');
  expect(await countTries()).toBe(1);
  expect((await post(eventOf(GOOD, 'after'))).status).toBe(202);
  expect(await countTries()).toBe(2);
  await database.owner.query('alter table ingest.events drop constraint events_name_no_poison');
  expect((await post(eventOf(POISON, 'again'))).body).toMatchObject({ accepted: 1, duplicates: 0 });
  expect(await storedOf(['again'])).toEqual(['again']);
});
