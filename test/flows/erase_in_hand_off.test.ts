// People are erased while mail to them is planned, rendered and handed over by real workers.
import { expect, test } from 'vitest';
import { HAND_OFF_DEADLINE_MS } from '../../src/delivery/delivery.ts';
import { findRemains } from '../support/remains.ts';
import { until } from '../support/until.ts';
import { addressOf, testWorld } from '../support/world.ts';

const PEOPLE = 60;
const TEST_TIMEOUT_MS = 120_000;

const world = testWorld();
const now = (): number => performance.timeOrigin + performance.now();

test(
  'nothing is sent to anybody once their erase is acknowledged, beyond the hand-offs that had begun',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const [service, other] = await Promise.all([world.start('all'), world.start('worker')]);
    const people = Array.from({ length: PEOPLE }, (_, at) => `raced-${at}-`);
    const acknowledged = new Map<string, number>();

    const erase = async (person: string): Promise<boolean> => {
      const answer = await fetch(
        `http://127.0.0.1:${service.port}/v1/profiles/external_id:${person}/erase`,
        {
          method: 'POST',
          headers: {
            authorization: `Bearer ${world.project.server_key}`,
            'content-type': 'application/json',
          },
          body: '{}',
        },
      );
      expect([202, 404]).toContain(answer.status);
      await answer.body?.cancel();
      if (answer.status === 202) acknowledged.set(person, now());
      return answer.status === 202;
    };
    await world.signUp(...people);
    // As soon as there is somebody to erase: some before their mail is planned, some in the midst of it.
    await Promise.all(
      people.map((person) => until(`${person} can be erased`, () => erase(person))),
    );
    await until('all is done', async () => {
      const { rows } = await world.owner.query<{ left: number }>(
        `select ((select count(*) from profiles.erasures where status = 'pending')
          + (select count(*) from ingest.pending)
          + (select count(*) from delivery.sends where status in ('queued', 'handing_off')))::int as left`,
      );
      return rows[0]?.left === 0;
    });

    const late = world.sink.mails.filter(({ to, firstByteAt, receivedAt }) => {
      const person = people.find((one) => to.includes(addressOf(one))) ?? '';
      const deadline = (acknowledged.get(person) ?? 0) + HAND_OFF_DEADLINE_MS;
      return (firstByteAt ?? receivedAt) > deadline;
    });
    expect(late).toEqual([]);
    // A hand-off that was begun for somebody who was gone would have left an attempt.
    const { rows: begun } = await world.owner.query(
      `select tried.started_at, erasure.requested_at from delivery.attempts as tried
      join delivery.sends as send using (project_id, send_id)
      join profiles.erasures as erasure using (project_id, profile_id)
      where tried.started_at > erasure.done_at`,
    );
    expect(begun).toEqual([]);
    const { rows: statuses } = await world.owner.query<{ status: string }>(
      'select distinct status from delivery.sends where recipient is not null',
    );
    expect(statuses).toEqual([]);
    expect(await findRemains(world.owner, people)).toEqual([]);
    expect(new Set(world.sink.mails.map(({ send_id }) => send_id)).size).toBe(
      world.sink.mails.length,
    );
    await other.stop();
  },
);
