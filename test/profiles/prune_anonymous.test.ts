// People of one anonymous id that no room needs go with the months of the timeline.
import { beforeEach, describe, expect, test } from 'vitest';
import pruneAnonymous from '../../tasks/profiles/prune_anonymous.ts';
import { newId } from '../../src/base/ids.ts';
import { KEPT_MONTHS_MIN } from '../../src/delivery/retention.ts';
import { PRUNED_ANONYMOUS_MAX } from '../../src/profiles/prune_anonymous.ts';
import { testDatabase } from '../support/database.ts';
import { ownApi } from '../support/own_api.ts';
import { virtualClock } from '../support/virtual_clock.ts';
import { asWorker } from '../support/work_on.ts';

const database = testDatabase();
const clock = virtualClock(database);
const api = ownApi(database);
const DEVICE = 'device-1';
const MONTHS = 24;

const ask = (text: string, ...values: unknown[]) =>
  database.owner.query(text, [api.project.project_id, ...values]);
const post = async (path: string, body: object, isServer = false) => {
  const { server_key, publishable_key } = api.project;
  const key = isServer ? server_key : publishable_key;
  const { status, body: answer } = await api.call('POST', path, { key, body });
  expect([status < 300, answer]).toEqual([true, answer]);
  await api.processEvents();
  return answer;
};
const prune = async (given: { signal?: AbortSignal } = {}) => {
  await pruneAnonymous({ ...asWorker(database), ...given })({}, undefined as never);
};
const count = async (table: string): Promise<number> =>
  (await ask(`select from ${table} where project_id = $1`)).rowCount ?? 0;
const dropEvents = () => ask('delete from ingest.events where project_id = $1');
/** Lets so many months go by. */
const pass = async (months: number) => {
  const now = new Date();
  await clock.set(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 2)));
};
const identityId = async (): Promise<string> =>
  (await ask('select identity_id from identity.identities where project_id = $1')).rows[0]
    ?.identity_id;
/** As an `update_profile` step does, or one that takes it over from an event of a page. */
const setTrait = async (authority: 'server' | 'publishable') =>
  ask(
    `insert into profiles.traits (project_id, identity_id, key, value, set_at, authority)
    values ($1, $2, 'color', '"blue"', now(), $3)`,
    await identityId(),
    authority,
  );
const choose = async (anonymous_months: number) => {
  await api.call('POST', `/v1/projects/${api.project.project_id}/retention`, {
    key: api.project.server_key,
    body: { content_days: 90, sends_months: null, anonymous_months },
  });
};
const viewed = { event: 'page_viewed', anonymous_id: DEVICE };

beforeEach(async () => {
  await ask("select set_config('trunkline.project_id', $1, false)");
});

describe('an anonymous person', () => {
  test('goes with everything of it, and comes back as a new person', async () => {
    await post('/v1/events', viewed);
    const before = await identityId();
    await setTrait('publishable');
    await ask(
      `insert into profiles.browser_traits (project_id, identity_id, key, value, set_at, told_at)
      values ($1, $2, 'color', '"blue"', now(), now())`,
      before,
    );
    await dropEvents();
    await pass(MONTHS + 1);
    await prune();
    for (const table of [
      'identity.identities',
      'profiles.profiles',
      'profiles.traits',
      'profiles.browser_traits',
    ])
      expect([table, await count(table)]).toEqual([table, 0]);
    await prune();
    await clock.reset();
    await post('/v1/events', viewed);
    expect(await count('profiles.profiles')).toBe(1);
    expect(await identityId()).not.toBe(before);
  });

  test('stays as long as a month of its last event is kept, and goes the month after', async () => {
    await post('/v1/events', viewed);
    await dropEvents();
    await pass(MONTHS);
    await prune();
    expect(await count('profiles.profiles')).toBe(1);
    await pass(MONTHS + 1);
    await prune();
    expect(await count('profiles.profiles')).toBe(0);
  });

  test('goes after the months that the project chose, and not before', async () => {
    await choose(MONTHS + 6);
    await post('/v1/events', viewed);
    await dropEvents();
    await pass(MONTHS + 6);
    await prune();
    expect(await count('profiles.profiles')).toBe(1);
    await pass(MONTHS + 7);
    await prune();
    expect(await count('profiles.profiles')).toBe(0);
  });

  test('stays with an event, however few months the project chose, also with one of another person', async () => {
    await choose(KEPT_MONTHS_MIN);
    await post('/v1/events', viewed);
    await pass(KEPT_MONTHS_MIN + 1);
    await prune();
    expect(await count('profiles.profiles')).toBe(1);
    await dropEvents();
    await clock.reset();
    await post('/v1/events', { ...viewed, external_id: 'bob' }, true);
    await ask('delete from identity.links where project_id = $1');
    await pass(KEPT_MONTHS_MIN + 1);
    await prune();
    expect(await count('profiles.profiles')).toBe(2);
    await dropEvents();
    await ask('delete from ingest.devices where project_id = $1');
    await prune();
    expect(await count('profiles.profiles')).toBe(1);
  });

  const server = (path: string, body: object) => () => post(path, body, true);
  test.each<[string, () => Promise<unknown>]>([
    ['has an event that is left', server('/v1/events', viewed)],
    ['has a trait that a server set', () => setTrait('server')],
    [
      'is linked to a person',
      server('/v1/identify/alias', { anonymous_id: DEVICE, external_id: 'ann' }),
    ],
    [
      'was linked to a person',
      async () => {
        const body = { anonymous_id: DEVICE, external_id: 'ann' };
        const { link } = await post('/v1/identify/alias', body, true);
        await post(`/v1/identity-links/${link.id}/undo`, {}, true);
      },
    ],
    [
      'changed since',
      () =>
        ask(
          `update profiles.profiles set updated_at = now() + interval '30 months' where project_id = $1`,
        ),
    ],
    [
      'was seen since',
      () =>
        ask(
          `update identity.identities set last_seen_at = now() + interval '30 months' where project_id = $1`,
        ),
    ],
    [
      'is being erased',
      () => ask('update identity.identities set erasure_id = project_id where project_id = $1'),
    ],
    [
      'is in an import of a segment',
      async () => {
        const [segmentId, importId] = [newId(), newId()];
        await ask(
          `insert into segments.segments (project_id, segment_id, name, kind, status, version, created_at, updated_at)
          values ($1, $2, 'a', 'static', 'ready', 1, now(), now())`,
          segmentId,
        );
        await ask(
          `insert into segments.imports (project_id, segment_id, import_id, people, imported_at)
          values ($1, $2, $3, 1, now())`,
          segmentId,
          importId,
        );
        await ask(
          `insert into segments.imported values ($1, $2, $3, $4)`,
          segmentId,
          await identityId(),
          importId,
        );
      },
    ],
    [
      'has an email',
      async () =>
        ask(
          `insert into delivery.sends (project_id, send_id, profile_id, identity_id, provider_id, template_id,
            template_version, status, due_at, queued_at, expires_at)
          values ($1, gen_random_uuid(), $1, $2, $1, $1, 1, 'rejected', now(), now(), now())`,
          await identityId(),
        ),
    ],
    [
      'has a run, also one that ended',
      async () => {
        const automationId = newId();
        await ask(
          `insert into automations.automations (project_id, automation_id, name, status, created_at, updated_at)
          values ($1, $2, 'Welcome', 'draft', now(), now())`,
          automationId,
        );
        await ask(`insert into automations.versions values ($1, $2, 1, '{}', now())`, automationId);
        await ask(
          `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, entry_key, status,
            started_at, ended_at)
          values ($1, gen_random_uuid(), $2, 1, $3, 'a', 'ended', now(), now())`,
          automationId,
          await identityId(),
        );
      },
    ],
  ])('that %s stays', async (_, keep) => {
    await post('/v1/events', viewed);
    await dropEvents();
    await keep();
    const known = await count('profiles.profiles');
    await pass(MONTHS + 2);
    await prune();
    expect(await count('profiles.profiles')).toBe(known);
  });

  test('that another transaction works for stays until the next time', async () => {
    await post('/v1/events', viewed);
    await dropEvents();
    await pass(MONTHS + 1);
    await database.owner.query('begin');
    await ask('select from identity.identities where project_id = $1 for key share');
    await prune();
    await database.owner.query('rollback');
    expect(await count('profiles.profiles')).toBe(1);
    await prune();
    expect(await count('profiles.profiles')).toBe(0);
  });
});

test('a person with an external id stays, whatever has gone', async () => {
  await post('/v1/events', { event: 'page_viewed', external_id: 'ann' }, true);
  await dropEvents();
  await pass(MONTHS + 2);
  await prune();
  expect(await count('profiles.profiles')).toBe(1);
});

test('more people than one transaction deletes go all the same, and a stop leaves the rest', async () => {
  await post('/v1/events', viewed);
  await dropEvents();
  await ask(
    `with made as (
      insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
      select $1, new.id, 'anonymous', 'd' || copy, new.id, new.id
      from generate_series(1, $2) as copy
      cross join lateral (select overlay($3::text placing lpad(copy::text, 12, '0') from 25)::uuid as id) as new
      returning profile_id
    )
    insert into profiles.profiles (project_id, profile_id, created_at, updated_at)
    select $1, profile_id, now(), now() from made`,
    PRUNED_ANONYMOUS_MAX,
    newId(),
  );
  await pass(MONTHS + 1);
  await prune({ signal: AbortSignal.abort() });
  expect(await count('profiles.profiles')).toBe(PRUNED_ANONYMOUS_MAX + 1);
  await Promise.all([prune(), prune()]);
  await prune();
  expect(await count('profiles.profiles')).toBe(0);
});
