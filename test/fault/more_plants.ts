import type pg from 'pg';
import type { Stand } from './evidence.ts';
import type { AddressSaid, Person, Said } from './journal.ts';
import { ann, copy, email, ids, person } from './plants.ts';
import type { Plant } from './plants.ts';

const KEY_HASH_BYTES = 32;

const addEntry = (client: pg.Client, action: string, requestId: string | null = null) =>
  client.query(
    `insert into admin.audit (project_id, audit_id, at, actor_kind, action, targets, request_id)
    values ($1, gen_random_uuid(), now(), 'key', $2, '{}', $3)`,
    [ids.project, action, requestId],
  );

/** A second hand-off of each send, after the first of which this is recorded. */
const handOffAgain = async (client: pg.Client, first: string, begins: string): Promise<void> => {
  await client.query('update delivery.attempts set outcome = $1', [first]);
  await copy(client, 'delivery.attempts', {
    attempt: 2,
    outcome: 'accepted',
    message_id: 'second',
  });
  await client.query(`update delivery.attempts set started_at = ${begins} where attempt = 2`);
  await client.query('update delivery.sends set attempt_count = 2');
};

const refuseAll: Plant = ({ seen }) => {
  for (const one of seen) one.taken = 'no';
};

const stand = (status: string, attempt_count: number): Stand => ({
  status,
  attempt_count,
  facts: [],
});

const say = (said: Said, ackedAt: number): AddressSaid => ({
  projectId: ids.project,
  email,
  said,
  askedAt: ackedAt,
  ackedAt,
});

/** Somebody of whom no table ever knew. */
const erased: Person = {
  ...person,
  get projectId() {
    return ids.project;
  },
  external_id: 'erased-of-the-test',
  anonymous_id: 'erased-device-of-the-test',
  email: 'erased-of-the-test@people.test',
  erase: { ackedAt: 1 },
};

const nameStranger: Plant = async ({ client }) => {
  const template_id = crypto.randomUUID();
  await copy(client, 'rendering.heads', { project_id: ids.other, template_id });
  await client.query('update delivery.sends set template_id = $1', [template_id]);
};

/** More ways in which some of them come to be broken. */
export const morePlants: [id: string, how: string, plant: Plant][] = [
  [
    'I4',
    'a run that is through, and mailed nobody',
    ({ client }) => client.query('delete from delivery.sends'),
  ],
  [
    'I5',
    'a message that was taken twice, once by what is recorded',
    async ({ client, seen }) => {
      await handOffAgain(client, 'deferred', 'ended_at');
      seen.push(...seen.map((one) => ({ ...one, message_id: 'second' })));
    },
  ],
  [
    'I6',
    'a send that is accepted, and that no provider saw',
    ({ seen }) => {
      seen.length = 0;
    },
  ],
  ['I6', 'one that was accepted, and the provider refused', refuseAll],
  [
    'I6',
    'one that is tried again, and the provider took',
    ({ client }) => client.query(`update delivery.attempts set outcome = 'deferred'`),
  ],
  [
    'I6',
    'one that is accepted, and nobody said so',
    ({ client }) => client.query(`update delivery.attempts set outcome = 'unknown'`),
  ],
  [
    'I7',
    'a send that was accepted and not handed off since it waited',
    ({ samples }) => samples.sends.set('one', [stand('queued', 1), stand('accepted', 1)]),
  ],
  [
    'I7',
    'a hand-off that began before the last had ended',
    ({ client }) => handOffAgain(client, 'deferred', `started_at - interval '1 ms'`),
  ],
  [
    'I7',
    'a hand-off that began though the last may have been taken',
    ({ client }) => handOffAgain(client, 'unknown', 'ended_at'),
  ],
  [
    'I7',
    'a hand-off that is not written down',
    ({ client }) => client.query('update delivery.attempts set attempt = 2'),
  ],
  [
    'I7',
    'a hand-off without an end, of a send that is through',
    ({ client }) => client.query('update delivery.attempts set outcome = null, ended_at = null'),
  ],
  [
    'I8',
    'a mail to who had unsubscribed, and was lifted since',
    ({ journal }) => journal.said.push(say('unsubscribe', 1), say('lift', 2)),
  ],
  [
    'I12',
    'somebody who has left, and whom nobody heard of it',
    ({ client }) => client.query('update suppression.addresses set unsubscribed_at = now()'),
  ],
  [
    'I12',
    'somebody who wanted to leave, and is mailed yet',
    ({ journal }) => journal.said.push(say('unsubscribe', 1)),
  ],
  [
    'I12',
    'somebody who came back, and is not mailed',
    async ({ client, journal }) => {
      journal.said.push(say('unsubscribe', 1), say('resubscribe', 2));
      await client.query('update suppression.addresses set unsubscribed_at = now()');
    },
  ],
  ['I13', 'a template of another project', nameStranger],
  [
    'I15',
    'a device of somebody erased',
    ({ journal }) => journal.people.push({ ...erased, anonymous_id: ann.anonymous_id }),
  ],
  [
    'I15',
    'somebody erased who was suppressed, and is not any more',
    ({ journal }) => {
      journal.people.push(erased);
      journal.said.push({ ...say('suppress', 1), email: erased.email });
    },
  ],
  [
    'I19',
    'an unsubscribe that is not written down',
    ({ journal }) => journal.said.push(say('unsubscribe', 1)),
  ],
  [
    'I17',
    'a queue past its bound',
    ({ samples }) => samples.queues.set('worker 1 outcomes', { most: 101, max: 100 }),
  ],
  ['I17', 'a queue of which nobody said how long it was', ({ samples }) => samples.queues.clear()],
  [
    'I19',
    'a key that nobody made',
    ({ client }) =>
      copy(client, 'projects.api_keys', {
        key_id: crypto.randomUUID(),
        key_hash: `\\x${'ab'.repeat(KEY_HASH_BYTES)}`,
        created_at: 'now',
      }),
  ],
  [
    'I19',
    'a key that nobody revoked',
    ({ client }) => client.query('update projects.api_keys set revoked_at = now()'),
  ],
  ['I19', 'an entry of a key that nobody made', ({ client }) => addEntry(client, 'keys.issue')],
  [
    'I19',
    'a provider that nobody changed',
    ({ client }) => client.query('update providers.providers set updated_at = now()'),
  ],
  [
    'I19',
    'a provider that is not as it was answered',
    ({ journal }) =>
      journal.made.push({
        projectId: ids.project,
        what: 'provider',
        id: crypto.randomUUID(),
        stands: 'Spare',
      }),
  ],
  [
    'I19',
    'an automation that nobody stopped',
    ({ client }) =>
      client.query(`update automations.automations set status = 'paused', updated_at = now()`),
  ],
  [
    'I19',
    'an automation that is not as it was answered',
    async ({ client, journal }) => {
      const { rows } = await client.query<{ id: string }>(
        'select automation_id as id from automations.automations',
      );
      const [{ id } = { id: '' }] = rows;
      journal.made.push({ projectId: ids.project, what: 'automation', id, stands: 'paused' });
    },
  ],
  [
    'I14',
    'a timeline that shows what is not theirs, and lacks what is',
    ({ journal, timelines }) =>
      timelines.push({ person: { ...person, projectId: ids.project }, ops: ['strange'] }) &&
      journal.people.push({ ...person, projectId: ids.project }),
  ],
  [
    'I19',
    'a change without its entry in the audit log',
    ({ journal }) =>
      journal.changed.push({ projectId: ids.project, kind: 'lift', requestId: 'x', isDone: true }),
  ],
  [
    'I19',
    'a change with two',
    async ({ client, journal }) => {
      journal.changed.push({ projectId: ids.project, kind: 'a', requestId: 'twice', isDone: true });
      await addEntry(client, 'POST /v1/x', 'twice');
      await addEntry(client, 'POST /v1/x', 'twice');
    },
  ],
];
