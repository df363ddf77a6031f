// People are erased while mail to them is planned, rendered and handed over by real workers.
import { expect, test } from 'vitest';
import { HAND_OFF_DEADLINE_MS } from '../../src/delivery/delivery.ts';
import { findRemains } from '../support/remains.ts';
import { until } from '../support/until.ts';
import { addressOf, testWorld } from '../support/world.ts';

const PEOPLE = 60;
const TEST_TIMEOUT_MS = 120_000;

const world = testWorld();

type Sent = {
  profile_id: string;
  status_reason: string | null;
  started_at: Date | null;
  ended_at: Date | null;
};

/** Whether a hand-off to a person has begun. */
const hasBegun = async (person: string): Promise<boolean> => {
  const { rowCount } = await world.owner.query(
    'select from delivery.sends join delivery.attempts using (project_id, send_id) where recipient = $1',
    [addressOf(person)],
  );
  return rowCount === 1;
};

const now = (): number => performance.timeOrigin + performance.now();

test(
  'nothing is sent to anybody once their erase is acknowledged, beyond the hand-offs that had begun',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const [service, other] = await Promise.all([world.start('all'), world.start('worker')]);
    const people = Array.from({ length: PEOPLE }, (_, at) => `raced-${at}-`);
    // Every other one is erased in the midst of a hand-off: the relay answers after the erase is acknowledged.
    const inHandOff = new Map(
      people
        .filter((_, at) => at % 2 === 1)
        .map((person) => [person, Promise.withResolvers<void>()]),
    );
    for (const [person, { promise }] of inHandOff)
      world.sink.play(
        'end',
        { until: promise },
        { when: ({ to }) => to.includes(addressOf(person)) },
      );
    const acknowledged = new Map<string, number>();
    const profileOf = new Map<string, string>();

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
      if (answer.status !== 202) {
        await answer.body?.cancel();
        return false;
      }
      acknowledged.set(person, now());
      inHandOff.get(person)?.resolve();
      const { erasure } = (await answer.json()) as { erasure: { profile_id: string } };
      profileOf.set(erasure.profile_id, person);
      return true;
    };
    await world.signUp(...people);
    // The others as soon as there is a person to erase, before the email is planned or handed over.
    await Promise.all(
      people.map(async (person) => {
        if (inHandOff.has(person))
          await until(`email to ${person} is handed over`, () => hasBegun(person));
        await until(`${person} can be erased`, () => erase(person));
      }),
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
    const { rows: sends } = await world.owner.query<Sent>(
      `select send.profile_id, send.status_reason, tried.started_at, tried.ended_at
      from delivery.sends as send left join delivery.attempts as tried using (project_id, send_id)`,
    );
    expect(profileOf.size).toBe(PEOPLE);
    const toldOf = ({ profile_id }: Sent): number =>
      acknowledged.get(profileOf.get(profile_id) ?? '') ?? -Infinity;
    const tooLate = sends.filter(
      (send) => (send.started_at?.getTime() ?? -Infinity) > toldOf(send),
    );
    expect(tooLate).toEqual([]);
    const { rows: statuses } = await world.owner.query<{ status: string }>(
      'select distinct status from delivery.sends where recipient is not null',
    );
    expect(statuses).toEqual([]);
    expect(await findRemains(world.owner, people)).toEqual([]);
    expect(new Set(world.sink.mails.map(({ send_id }) => send_id)).size).toBe(
      world.sink.mails.length,
    );
    // It was a race: some were erased while their mail was handed over, others before it was.
    const met = sends.filter(
      (send) => send.started_at && send.ended_at && send.ended_at.getTime() > toldOf(send),
    );
    const stopped = sends.filter(
      ({ started_at, status_reason: why }) => !started_at && why === 'erased',
    );
    expect(world.sink.mails.length).toBeGreaterThan(0);
    expect(met.length).toBeGreaterThan(0);
    expect(stopped.length).toBeGreaterThan(0);
    await other.stop();
  },
);
