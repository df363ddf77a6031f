// How each invariant comes to be broken: one violation, planted in a world in which nothing went wrong.
import type pg from 'pg';
import type { Evidence } from './evidence.ts';
import type { Person } from './journal.ts';
import type { Seen } from './relays.ts';

/** The world that is broken. */
export const ids = { project: '', other: '' };
export const ann = { external_id: 'ann-of-the-test', anonymous_id: 'device-of-the-test' };
export const email = 'ann-of-the-test@people.test';

export const person: Omit<Person, 'projectId'> = {
  ...ann,
  email,
  role: 'linked',
  isLinked: true,
  links: { linked: 1, undone: 0 },
  erase: 'none',
};

/** A row as it is, but for some members, though no constraint allowed it. */
export const copy = (client: pg.Client, table: string, changed: object, where = 'true') =>
  client.query(
    `insert into ${table} select (jsonb_populate_record(known, $1::jsonb)).*
    from ${table} as known where ${where} limit 1`,
    [JSON.stringify(changed)],
  );

export type Plant = (evidence: Evidence) => unknown;

export const strange: Seen = {
  provider: 'calm',
  taken: 'yes',
  send_id: null,
  message_id: null,
  to: [],
  firstByteAt: null,
};

/** How each comes to be broken. */
export const plants: Record<string, Plant> = {
  I1: ({ client }) => client.query(`delete from ingest.events where properties ->> 'op' = 'one'`),
  I2: ({ client }) =>
    copy(
      client,
      'ingest.events',
      { event_id: crypto.randomUUID(), properties: { op: 'bad' } },
      `properties ->> 'op' = 'two'`,
    ),
  I3: ({ client }) =>
    client.query(
      `update ingest.events set received_at = received_at + interval '1 second' where name = 'page_viewed'`,
    ),
  I4: async ({ client }) => {
    await client.query('alter table delivery.sends drop constraint sends_one_intent_per_step');
    await copy(client, 'delivery.sends', { send_id: crypto.randomUUID() });
  },
  I5: ({ client }) => copy(client, 'delivery.attempts', { attempt: 2, message_id: 'second' }),
  I6: ({ seen }) => seen.push({ ...strange, message_id: 'no' }),
  I7: ({ samples }) => {
    for (const stands of samples.sends.values())
      stands.push({ status: 'queued', attempt_count: 1, facts: [] });
  },
  I8: ({ journal }) =>
    journal.said.push({ projectId: ids.project, email, said: 'suppress', askedAt: 0, ackedAt: 1 }),
  I9: ({ seen }) => {
    for (const one of seen) one.firstByteAt = (one.firstByteAt ?? 0) + 10_000;
  },
  I10: ({ client }) =>
    client.query(`insert into queue.workers values ('dead', now(), now() - interval '1 minute')`),
  I11: ({ client }) => client.query('delete from automations.runs'),
  I12: ({ client }) =>
    client.query(
      `update suppression.addresses set reason = 'manual', source = 'nobody', suppressed_at = now()`,
    ),
  I13: async ({ client }) => {
    const provider_id = crypto.randomUUID();
    await copy(client, 'providers.providers', { project_id: ids.other, provider_id });
    await client.query('update delivery.sends set provider_id = $1', [provider_id]);
  },
  I14: ({ client }) =>
    client.query(
      `update identity.identities set profile_id = own_profile_id where kind = 'anonymous'`,
    ),
  I15: ({ journal }) => {
    for (const one of journal.people) one.erase = { ackedAt: 1 };
  },
  I16: ({ client }) =>
    client.query(`update profiles.profiles set traits = '{"note": "the sink password is"}'`),
  I17: ({ samples }) => samples.residentMiB.set('api 1', 10_000),
  I18: ({ samples }) => samples.payloads.add('{"email": "ann@people.test"}'),
  I19: ({ client }) => client.query('delete from identity.links'),
  I20: ({ client }) => client.query('update delivery.sends set attempt_count = 2'),
};
