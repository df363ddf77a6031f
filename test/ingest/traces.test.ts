// The trace that a request brings is kept with the note of its work, and goes with it.
import { expect, test } from 'vitest';
import { listQueues } from '../../src/base/memory_queues.ts';
import { untilWaiting } from '../base/connections.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const api = testApi(database);

const traceIdFrom = (digit: string): string => digit.repeat(32);
const traceparentOf = (digit: string): string => `00-${traceIdFrom(digit)}-${'b'.repeat(16)}-01`;
const events = (...people: string[]) => ({
  events: people.map((external_id) => ({ event: 'signed_up', external_id })),
});

const post = async (body: object, traceparent?: string, path = '/v1/events/batch') => {
  const headers = traceparent === undefined ? {} : { traceparent };
  const answer = await api.call('POST', path, { key: api.project.server_key, body, headers });
  return { ids: answer.body.event_ids as string[], answered: answer.headers.get('traceparent') };
};
/** What is noted just now; whoever asks next finds nothing of it. */
const takePending = async () => {
  const { rows } = await database.owner.query<{
    event_ids: string[];
    traces: Record<string, string> | null;
  }>('select event_ids, traces from ingest.pending order by flush_id');
  await api.processEvents();
  return rows;
};

test('each event of a request is noted with the trace that was answered', async () => {
  const { ids, answered } = await post(events('ann', 'ben'), traceparentOf('a'));
  expect(answered).toContain(traceIdFrom('a'));
  expect(await takePending()).toEqual([
    { event_ids: ids, traces: Object.fromEntries(ids.map((id) => [id, answered])) },
  ]);
  expect(await takePending()).toEqual([]);
});

test.each([undefined, 'nonsense', `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`])(
  'of a request that brings none, or none that is valid, nothing is noted: %s',
  async (traceparent) => {
    const { answered } = await post(events('ann'), traceparent);
    expect(answered).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(await takePending()).toMatchObject([{ traces: null }]);
  },
);

test('so it is of a single event, and of one that another library sends', async () => {
  const [event] = events('ann').events;
  const { answered } = await post(event ?? {}, traceparentOf('a'), '/v1/events');
  const track = { userId: 'ann', event: 'Signed Up' };
  const { answered: told } = await post(track, traceparentOf('b'), '/segment/v1/track');
  const noted = (await takePending()).flatMap(({ traces }) => Object.values(traces ?? {}));
  expect(noted).toEqual([answered, told]);
});

test('requests that share a flush keep theirs apart, and one that brings none has none', async () => {
  await database.owner.query('begin');
  await database.owner.query('lock table ingest.pending in exclusive mode');
  const first = post(events('first'));
  await untilWaiting(database);
  const together = [
    post(events('ann', 'ben'), traceparentOf('a')),
    post(events('cid'), traceparentOf('c')),
    post(events('dan')),
  ];
  const queued = () => listQueues(database.deps).get('events')?.size() === 5;
  await until('all wait for the next flush', queued);
  await database.owner.query('commit');
  const [ofAnn, ofCid, ofDan] = await Promise.all(together);
  await first;
  const ids = [ofAnn, ofCid, ofDan].flatMap((one) => one?.ids ?? []);
  const [annId = '', benId = '', cidId = ''] = ids;
  const [, shared] = await takePending();
  expect(new Set(shared?.event_ids)).toEqual(new Set(ids));
  expect(shared?.traces).toEqual({
    [annId]: ofAnn?.answered,
    [benId]: ofAnn?.answered,
    [cidId]: ofCid?.answered,
  });
});
