// The whole of an erase, through public doors: everything that may hold something of a person is made to,
// then searched, every column of every table, for every word that was ever said of them.
import { beforeAll, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { FIRST_ID } from '../../src/base/ids.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { EXAMPLE_EVENT } from '../../src/runtime/example.ts';
import { askService } from '../support/ask_service.ts';
import type { ServiceAnswer } from '../support/ask_service.ts';
import { findDigests, findRemains, listChanged, readEverything } from '../support/remains.ts';
import type { Row } from '../support/remains.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const DAY_MS = 86_400_000;

const world = testWorld();
let service: Service;

beforeAll(async () => {
  // A value of a property lets a person in once: the run keeps a digest of it.
  await inProject(world.deps, world.project.project_id, (scope) =>
    automations.createActive(scope, 'Once for each address', {
      trigger: { kind: 'event', event: EXAMPLE_EVENT },
      settings: { re_entry: { by_property: 'email' } },
      entry: 'remember',
      steps: {
        remember: {
          kind: 'update_profile',
          traits_from_event: { first_name: 'first_name' },
          next: null,
        },
      },
    }),
  );
  service = await world.start('all');
});

/** Has the first run of each person removed as if it were old: what is kept of it has the same digest. */
const pruneFirstRuns = async (): Promise<void> => {
  await world.owner.query(
    `delete from automations.run_log where run_id in (
      select distinct on (identity_id) run_id from automations.runs where entry_key like 'property/%'
      order by identity_id, run_id)`,
  );
  const tomorrow = new Date(Date.now() + DAY_MS);
  const { pruned } = await inProject(world.deps, world.project.project_id, (scope) =>
    automations.pruneRuns(scope, tomorrow, FIRST_ID),
  );
  expect(pruned).toBeGreaterThan(1);
};

const call = (method: string, path: string, body?: object, key = world.project.server_key) =>
  askService(service, method, path, {
    key,
    body,
    ...(method === 'POST' ? { headers: { 'idempotency-key': crypto.randomUUID() } } : {}),
  });
const post = async (path: string, body: object, token?: string): Promise<ServiceAnswer['body']> => {
  const answer = await call('POST', path, body, token);
  expect([path, answer.status < 300, answer.body]).toEqual([path, true, answer.body]);
  return answer.body;
};

/** Words that stand nowhere by chance. */
const wordsOf = (name: string) => ({
  id: `${name}-id-7f31`,
  device: `${name}-device-82ac`,
  phone: `${name}-phone-11dd`,
  borrowed: `${name}-borrowed-90ef`,
  email: `${name}.first@people.test`,
  newEmail: `${name}.second@people.test`,
  said: `${name}-said-this-5b2e`,
  name: `${name}-name-c0de`,
  town: `${name}-town-44aa`,
  message: `sign-up-${name}-1`,
  identify: `identify-${name}-1`,
  notice: `relay-told-of-${name}`,
});

const signUp = (w: ReturnType<typeof wordsOf>, email: string) => ({
  event: EXAMPLE_EVENT,
  external_id: w.id,
  properties: { email, first_name: w.name, note: w.said },
});

const sendTo = (email: string, status: string) =>
  until(`a send to ${email} is ${status}`, async () => {
    const { body } = await call('GET', `/v1/sends?email=${email}&status=${status}`);
    return (body.items[0] as { id: string }) ?? null;
  });

const bounce = (w: ReturnType<typeof wordsOf>, sendId: string, email: string, kind: string) =>
  post(
    `/v1/webhooks/smtp/${world.project.project_id}`,
    {
      event: kind,
      bounce_type: 'hard',
      recipient: email,
      send_id: sendId,
      reason: `550 5.1.1 <${email}> unknown, said ${w.said}`,
      event_id: `${w.notice}-${kind}`,
    },
    world.project.hook_token,
  );

/** A person of whom every table holds something. */
const live = async (name: string) => {
  const w = wordsOf(name);
  await post('/v1/events/batch', {
    events: [
      { event: 'page_viewed', anonymous_id: w.device, properties: { path: w.said } },
      { event: 'page_viewed', anonymous_id: w.borrowed },
      { event: 'cart_filled', external_id: w.id, anonymous_id: w.device, message_id: w.message },
    ],
  });
  await post('/v1/identify', {
    external_id: w.id,
    anonymous_id: w.device,
    traits: { email: w.email, first_name: w.name, home: { town: [w.town] } },
    message_id: w.identify,
  });
  await post(
    '/v1/identify',
    { external_id: w.id, anonymous_id: w.device, traits: { nickname: w.said } },
    world.project.publishable_key,
  );
  await post('/v1/identify/alias', { anonymous_id: w.phone, external_id: w.id });
  const lent = await post('/v1/identify/alias', { anonymous_id: w.borrowed, external_id: w.id });
  await post(`/v1/identity-links/${lent.link.id}/undo`, {});
  await post('/v1/events', signUp(w, w.email));
  const first = await sendTo(w.email, 'accepted');
  await bounce(w, first.id, w.email, 'bounce');
  await post('/v1/unsubscribes', { email: w.email, note: `on the phone: ${w.said}` });
  await post('/v1/events', signUp(w, w.newEmail));
  const second = await sendTo(w.newEmail, 'accepted');
  await bounce(w, second.id, w.newEmail, 'delivered');
  // Somebody else at the same device: refused as a link, and remembered by their event.
  const guest = `${name}-guest`;
  await post('/v1/identify', { external_id: guest, anonymous_id: w.device });
  await post('/v1/events', { event: 'page_viewed', external_id: guest, anonymous_id: w.phone });
  const { body: profile } = await call('GET', `/v1/profiles/external_id:${w.id}`);
  expect(profile).toMatchObject({ email: w.newEmail, tags: [] });
  return { w, profileId: profile.id as string, guest, sendIds: [first.id, second.id] };
};

const isIdle = () =>
  until('all events are processed and the queue is empty', async () => {
    const { rows } = await world.owner.query<{ left: number }>(
      `select ((select count(*) from ingest.pending) + (select count(*) from graphile_worker._private_jobs)
        + (select count(*) from delivery.sends where status in ('queued', 'handing_off'))
        + (select count(*) from delivery.ended))::int as left`,
    );
    return rows[0]?.left === 0;
  });

const erasureIs = (id: string, status: string) =>
  until(`the erasure is ${status}`, async () => {
    const { body } = await call('GET', `/v1/erasures/${id}`);
    return body.status === status && body;
  });

/** Everything that says which rows were a person's: what was said, and the ids of what was theirs. */
const marksOf = async (words: readonly string[], profileId: string): Promise<string[]> => {
  const { rows } = await world.owner.query<{ id: string }>(
    `with own as (
      select identity_id, own_profile_id from identity.identities where profile_id = $1
    ), run as (select run_id from automations.runs where identity_id in (select identity_id from own))
    select identity_id as id from own union select own_profile_id from own union select run_id from run
    union select send_id from delivery.sends where profile_id = $1 or run_id in (select run_id from run)
    union select event_id from ingest.events where external_id = any ($2)
      or external_id is null and anonymous_id = any ($2)`,
    [profileId, words],
  );
  return [...words, ...rows.map(({ id }) => id)];
};

/** A process also counts the use of a key every few seconds (`quotas.key_days`): numbers only. */
const NOT_OF_PEOPLE =
  /^(?:graphile_worker|queue|base|http)\.|^profiles\.(?:erasures|erase_counts|tombstones)$|^quotas\.key_days$/;
const isOf = (marks: readonly string[]) => (row: Row) =>
  marks.some((mark) => row.text.includes(mark));

test(
  'after an erase no word that was said of the person is left anywhere, and nobody else lost a byte',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const ann = await live('ann');
    const bob = await live('bob');
    await isIdle();
    await pruneFirstRuns();
    const words = Object.values(ann.w).filter((word) => word !== ann.w.borrowed);
    const said = await findRemains(world.owner, words);
    // What a relay calls its notices, and message ids, are kept as keyed hashes from the start.
    const { notice, message, identify } = ann.w;
    const kept = words.filter((word) => ![notice, message, identify].includes(word));
    expect(new Set(said.map((one) => one.split(': ')[1]))).toEqual(new Set(kept));
    // Digests without a key are there before the erase: of the addresses by which people were enrolled.
    const digests = () => findDigests(world.owner, words, ['email', 'external_id', 'anonymous_id']);
    expect(await digests()).toEqual([
      `automations.enrollments: ${ann.w.email}`,
      `automations.runs: ${ann.w.newEmail}`,
    ]);
    const marks = await marksOf(Object.values(ann.w), ann.profileId);
    const before = await readEverything(world.owner);

    const { erasure } = await post(`/v1/profiles/external_id:${ann.w.id}/erase`, {
      reason: `${ann.w.name} asked`,
    });
    expect(erasure).toMatchObject({ profile_id: ann.profileId, status: 'pending' });
    const done = await erasureIs(erasure.id, 'done');
    await isIdle();

    // The undone link gave the borrowed device back: it is somebody of its own, and only the link is gone.
    expect(await findRemains(world.owner, words)).toEqual([]);
    expect(await digests()).toEqual([]);
    const { rows: links } = await world.owner.query(
      `select from identity.links where anonymous_id like 'ann%' or external_id like 'ann%'`,
    );
    expect(links).toEqual([]);

    // The receipt names every table of the catalogue, and each had something to erase.
    const empty = Object.entries(done.receipt.tables).filter(([, rows]) => rows === 0);
    expect(empty).toEqual([]);

    const after = await readEverything(world.owner);
    const changed = listChanged(before, after).filter(({ table }) => !NOT_OF_PEOPLE.test(table));
    expect(changed.filter((row) => !isOf(marks)(row))).toEqual([]);
    const { body: neighbour } = await call('GET', `/v1/profiles/external_id:${bob.w.id}`);
    expect(neighbour).toMatchObject({ id: bob.profileId, email: bob.w.newEmail });

    // Suppressed stays suppressed, unread; a new person with the same names has nothing of the old one.
    const { body: list } = await call('GET', '/v1/suppressions');
    expect(list.items.map(({ email }: { email: string }) => email)).toEqual([bob.w.email, null]);
    await post('/v1/events', signUp(ann.w, ann.w.email));
    await sendTo(ann.w.email, 'suppressed');
    const { body: fresh } = await call('GET', `/v1/profiles/external_id:${ann.w.id}`);
    expect(fresh.id).not.toBe(ann.profileId);
    expect(fresh.identifiers).toHaveLength(1);
    expect(fresh).toMatchObject({ tags: ['hard_bounced', 'unsubscribed'], suppressed: true });
    expect(fresh.traits).toEqual({ email: ann.w.email, first_name: ann.w.name });
    const { body: timeline } = await call('GET', `/v1/profiles/${fresh.id}/events`);
    expect(timeline.items.map(({ event }: { event: string }) => event)).toEqual([
      'email_skipped',
      'user_signed_up',
    ]);
  },
);

test(
  'feedback that comes after the erase suppresses the address and stores nothing of the person',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const w = { ...wordsOf('cleo') };
    await post('/v1/events', signUp(w, w.email));
    const send = await sendTo(w.email, 'accepted');
    const { erasure } = await post(`/v1/profiles/external_id:${w.id}/erase`, {});
    await erasureIs(erasure.id, 'done');

    const told = await bounce(w, send.id, w.email, 'bounce');
    expect(told).toMatchObject({ accepted: 1 });
    expect(await bounce(w, send.id, w.email, 'bounce')).toMatchObject({ duplicates: 1 });
    expect(await findRemains(world.owner, Object.values(w))).toEqual([]);
    const { body: sent } = await call('GET', `/v1/sends/${send.id}`);
    expect(sent).toMatchObject({ to: null, subject: null, status: 'bounced' });

    await post('/v1/events', signUp(w, w.email));
    await sendTo(w.email, 'suppressed');
  },
);
