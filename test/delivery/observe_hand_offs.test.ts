// What hand-offs have ended comes onto timelines from notes: each once, and none stops another.
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { OBSERVED_NOTES_MAX, observeHandOffs } from '../../src/delivery/observe.ts';
import { isSettled, untilWaiting } from '../base/connections.ts';
import { newPerson } from '../profiles/people.ts';
import { testDatabase } from '../support/database.ts';
import { askToErase, runErasure } from '../support/erase.ts';
import { newSend, sendsOf } from './one_send.ts';

const database = testDatabase();
const ENDED_AT = '2026-01-31T12:00:00.000Z';
/** No partition is as far ahead: what ended then cannot be put on a timeline. */
const NEVER_AT = '2999-01-31T12:00:00.000Z';

const opened = async () => {
  const person = await newPerson(database);
  const { projectId, identityId, profileId } = person;
  const within = <T>(work: (scope: Scope) => Promise<T>) =>
    inProject(database.deps, projectId, work);
  const sends = sendsOf(database, projectId);
  /** A send of the person that was accepted. */
  const accepted = async (): Promise<string> => {
    const send = newSend({ identityId, profileId });
    await sends.plan(send);
    await sends.update(send.sendId, `status = 'accepted'`);
    return send.sendId;
  };
  const note = async (sendIds: string[], endedAt = ENDED_AT): Promise<void> => {
    await database.owner.query(
      'insert into delivery.ended (project_id, step_id, send_ids, ended_at) values ($1, $2, $3, $4)',
      [projectId, newId(), sendIds, endedAt],
    );
  };
  const told = async (): Promise<string[]> => {
    const { rows } = await database.owner.query<{ send_id: string }>(
      `select properties ->> 'send_id' as send_id from ingest.events
      where project_id = $1 order by occurred_at, properties ->> 'send_id'`,
      [projectId],
    );
    return rows.map(({ send_id }) => send_id);
  };
  const notes = async () =>
    (
      await database.owner.query<{ send_ids: string[]; failure_count: number; waits: boolean }>(
        `select send_ids, failure_count, retry_at > now() as waits from delivery.ended where project_id = $1`,
        [projectId],
      )
    ).rows;
  const observe = (notesMax?: number) => within((scope) => observeHandOffs(scope, notesMax));
  return { ...person, within, accepted, note, told, notes, observe };
};

test('it is there at the time when it ended, and once, also when three look at once', async () => {
  const { projectId, accepted, note, observe } = await opened();
  await note([await accepted()]);
  const times = await Promise.all([1, 2, 3].map(() => observe(1)));
  expect(times.filter(({ observed }) => observed === 1)).toEqual([
    { observed: 1, isMore: true, failed: [] },
  ]);
  const { rows } = await database.owner.query(
    'select occurred_at from ingest.events where project_id = $1',
    [projectId],
  );
  expect(rows).toEqual([{ occurred_at: new Date(ENDED_AT) }]);
});

test.each([OBSERVED_NOTES_MAX, OBSERVED_NOTES_MAX + 1])(
  'of %i notes one transaction takes all, or as many as it may',
  async (count) => {
    const { note, observe, notes } = await opened();
    for (let at = 0; at < count; at += 1) await note([newId()]);
    expect(await observe()).toMatchObject({ observed: OBSERVED_NOTES_MAX, isMore: true });
    expect(await notes()).toHaveLength(count - OBSERVED_NOTES_MAX);
    expect(await observe()).toMatchObject({ observed: count - OBSERVED_NOTES_MAX, isMore: false });
  },
);

test('many sends are flushes of 500 events', async () => {
  const { projectId, accepted, note, observe } = await opened();
  const [one, other] = [await accepted(), await accepted()];
  await note([...Array.from({ length: 500 }, () => one), other]);
  await observe();
  const { rows } = await database.owner.query<{ events: number }>(
    'select cardinality(event_ids) as events from ingest.pending where project_id = $1 order by events',
    [projectId],
  );
  expect(rows).toEqual([{ events: 1 }, { events: 500 }]);
});

test('one that cannot be observed waits longer each time, and stops nobody else', async () => {
  const { projectId, accepted, note, told, notes, observe } = await opened();
  const [good, bad, beside, last] = [
    await accepted(),
    await accepted(),
    await accepted(),
    await accepted(),
  ];
  await note([good]);
  await note([bad], NEVER_AT);
  await note([last]);
  expect(await observe()).toMatchObject({
    observed: 2,
    failed: [{ sendId: bad, failureCount: 1, error: expect.any(Error) }],
  });
  expect(await told()).toEqual([good, last].toSorted());
  expect(await notes()).toEqual([{ send_ids: [bad], failure_count: 1, waits: true }]);

  await note([beside]);
  expect(await observe()).toEqual({ observed: 1, isMore: false, failed: [] });
  await database.owner.query('update delivery.ended set retry_at = now() where project_id = $1', [
    projectId,
  ]);
  expect(await observe()).toMatchObject({ observed: 0, failed: [{ failureCount: 2 }] });
  await database.owner.query(
    'update delivery.ended set retry_at = now(), ended_at = $2 where project_id = $1',
    [projectId, ENDED_AT],
  );
  expect(await observe()).toMatchObject({ observed: 1, failed: [] });
  expect(await told()).toHaveLength(4);
});

test('a note of several that cannot be observed becomes a note for each', async () => {
  const { accepted, note, notes, observe } = await opened();
  const [one, other] = [await accepted(), await accepted()];
  await note([one, other], NEVER_AT);
  expect(await observe()).toEqual({ observed: 0, isMore: true, failed: [] });
  expect((await notes()).map(({ send_ids }) => send_ids.join()).toSorted()).toEqual(
    [one, other].toSorted(),
  );
});

test('what ended before the timeline begins is told to nobody', async () => {
  const { accepted, note, notes, told, observe } = await opened();
  await note([await accepted()], '2001-01-31T12:00:00.000Z');
  expect(await observe()).toMatchObject({ failed: [] });
  expect([await told(), await notes()]).toEqual([[], []]);
});

test('P10: an erase that is asked for while it is observed waits, and leaves nothing behind', async () => {
  const { projectId, profileId, accepted, note, told, within } = await opened();
  await note([await accepted()]);
  const { promise: isHeld, resolve: held } = Promise.withResolvers<void>();
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
  const observing = within(async (scope) => {
    await observeHandOffs(scope);
    held();
    await mayCommit;
  });
  await isHeld;
  const asking = askToErase(database, projectId, profileId);
  await untilWaiting(database);
  expect(await isSettled(asking)).toBe(false);
  commit();
  await observing;
  await runErasure(database, projectId, await asking);
  expect(await told()).toEqual([]);
});
