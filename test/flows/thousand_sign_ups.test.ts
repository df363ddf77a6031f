import { expect, test } from 'vitest';
import { addressOf, signUpOf, testWorld } from '../support/world.ts';
import { until } from '../support/until.ts';

const PEOPLE = 1_000;
const BATCH = 50;
const TEST_TIMEOUT_MS = 120_000;

const world = testWorld();

test(
  'a thousand sign-ups make a thousand mails, none twice, and every event is on its timeline',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const service = await world.start('all');
    const people = Array.from({ length: PEOPLE }, (_, at) => `person-${at}`);
    const batches = Array.from({ length: PEOPLE / BATCH }, (_, at) =>
      people.slice(at * BATCH, (at + 1) * BATCH).map(signUpOf),
    );
    const base = `http://127.0.0.1:${service.port}`;
    const headers = {
      authorization: `Bearer ${world.project.server_key}`,
      'content-type': 'application/json',
    };
    const answers = await Promise.all(
      batches.map((events) =>
        fetch(`${base}/v1/events/batch`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ events }),
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(batches.map(() => 202));

    await until('every send is accepted', async () => {
      const { rows } = await world.owner.query<{ accepted: number }>(
        `select count(*)::int as accepted from delivery.sends where status = 'accepted'`,
      );
      return rows[0]?.accepted === PEOPLE;
    });
    await until('every mail is on a timeline', async () => {
      const { rows } = await world.owner.query<{ told: number }>(
        `select count(*)::int as told from ingest.events where name = 'email_sent'`,
      );
      return rows[0]?.told === PEOPLE;
    });
    const recipients = world.sink.mails.flatMap(({ to }) => to).toSorted();
    expect(recipients).toEqual(people.map(addressOf).toSorted());

    for (const person of [people[0], people[499], people[999]]) {
      const profile = await fetch(`${base}/v1/profiles/external_id:${person}/events`, { headers });
      const { items } = (await profile.json()) as {
        items: { event: string; external_id: string }[];
      };
      expect(items).toMatchObject(
        ['email_sent', 'user_signed_up'].map((event) => ({ event, external_id: person })),
      );
    }
    const { rows } = await world.owner.query<{ people: number; events: number; sent: number }>(
      `select count(distinct identity.profile_id)::int as people, count(event.event_id)::int as events,
        count(*) filter (where event.name = 'email_sent')::int as sent
      from identity.identities as identity
      join ingest.events as event using (project_id)
      where event.external_id = identity.value`,
    );
    expect(rows).toEqual([{ people: PEOPLE, events: 2 * PEOPLE, sent: PEOPLE }]);
  },
);
