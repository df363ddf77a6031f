import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { EmailAddress } from '../../src/base/email_address.ts';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { EventInput } from '../../src/ingest/schema.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import { makeSeed } from '../../src/runtime/seed/make.ts';
import { Past } from '../../src/runtime/seed/past.ts';
import { makePerson } from '../../src/runtime/seed/people.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { runCommand } from '../support/run_command.ts';
import { workOn } from '../support/work_on.ts';

const database = testDatabase();
const UNTIL = new Date();
const options = (given: Partial<ConstructorParameters<typeof Past>[0]> = {}) => ({
  people: 60,
  events: 1_500,
  days: 90,
  seed: 1,
  until: UNTIL,
  ...given,
});
const seed = async (given = {}): Promise<string> => {
  const projectId = newId();
  await makeSeed(database.deps, projectId, options(given));
  return projectId;
};
const select = async (statement: string, projectId: string) =>
  (await database.owner.query(statement, [projectId])).rows;

const EVENTS = 'select * from ingest.events where project_id = $1 order by occurred_at, event_id';

/** The people of a project as the API would show them, without ids and without when they were stored. */
const people = (projectId: string) =>
  select(
    `select identity.kind, identity.value, identity.first_seen_at, identity.last_seen_at,
      identity.profile_id = identity.own_profile_id as has_own_profile, profile.email, profile.traits,
      own.traits as own_traits, own.merged_into = identity.profile_id as is_merged,
      array(
        select jsonb_build_object('key', key, 'value', value, 'set_at', set_at, 'authority', authority)
        from profiles.traits where traits.project_id = $1 and traits.identity_id = identity.identity_id order by key
      ) as told,
      array(
        select jsonb_build_object('external_id', external_id, 'is_right', link.profile_id = identity.profile_id
          and anonymous_profile_id = identity.own_profile_id, 'status', status, 'source', source, 'key_type', key_type)
        from identity.links as link where link.project_id = $1 and anonymous_identity_id = identity.identity_id
      ) as links
    from identity.identities as identity
    join profiles.profiles as profile using (project_id, profile_id)
    join profiles.profiles as own
      on own.project_id = identity.project_id and own.profile_id = identity.own_profile_id
    where identity.project_id = $1 order by identity.kind, identity.value`,
    projectId,
  );

/** The same events through the service, in another order, and what a server says when somebody signs up. */
const live = async (events: Record<string, never>[], seedNumber: number): Promise<string> => {
  const projectId = newId();
  const rows = events
    .toSorted((a, b) =>
      String(a['event_id']).slice(-6) < String(b['event_id']).slice(-6) ? -1 : 1,
    )
    .map((event) =>
      newEvent({
        ...event,
        event_id: newId(),
        occurred_at: new Date(event['occurred_at'] ?? 0).toISOString(),
        properties: JSON.stringify(event['properties']),
      }),
    );
  for (let from = 0; from < rows.length; from += 400)
    await acceptEvents(database.deps.db, projectId, newId(), rows.slice(from, from + 400));
  await workOn(database, projectId);
  for (const event of events.filter(({ name }) => name === 'user_signed_up')) {
    const person = makePerson(seedNumber, Number(String(event['external_id']).split('-')[2]));
    await inProject(database.deps, projectId, async (scope) => {
      const found = await identity.findByValue(scope, 'external', person.externalId);
      await profiles.changeTraits(scope, {
        identityId: found?.identity_id ?? '',
        traits: person.traits,
        setAt: new Date(event['occurred_at'] ?? 0),
        authority: 'server',
      });
      await profiles.linkPeople(scope, {
        anonymous_id: person.anonymousId,
        external_id: person.externalId,
        source: 'identify',
        key_type: 'publishable',
      });
    });
  }
  return projectId;
};

test.each([1, 2, 3])(
  'the people of seed %i are those that the service makes of the same events',
  async (seedNumber) => {
    const seeded = await seed({ seed: seedNumber });
    const events = await select(EVENTS, seeded);
    expect(await people(seeded)).toEqual(await people(await live(events, seedNumber)));
  },
);

test('there are as many people and events as were asked for, in the days that were asked for', async () => {
  for (const given of [
    {},
    { people: 1, events: 1, days: 1 },
    { people: 50, events: 50, days: 7 },
    { people: 3, events: 700, days: 300 },
  ]) {
    const { people: asked, events: eventCount, days } = options(given);
    const projectId = await seed(given);
    const events = await select(EVENTS, projectId);
    expect(events).toHaveLength(eventCount);
    expect(new Set(events.map((event) => event.event_id)).size).toBe(eventCount);
    const visitors = (await people(projectId)).filter(({ kind }) => kind === 'anonymous');
    expect(visitors).toHaveLength(asked);
    const times = events.map((event) => event.occurred_at.getTime());
    expect(Math.min(...times)).toBeGreaterThanOrEqual(UNTIL.getTime() - days * 86_400_000);
    expect(Math.max(...times)).toBeLessThanOrEqual(UNTIL.getTime());
  }
});

test('the same options make the same past, another seed another', () => {
  const past = (given = {}) => JSON.stringify([...new Past(options(given)).days()]);
  expect(past()).toBe(past());
  expect(past({ seed: 2 })).not.toBe(past());
});

test('the API would accept every event, and every address', () => {
  const past = new Past(options({ events: 5_000 }));
  for (const event of [...past.days()].flat()) {
    const input = {
      event: event.name,
      ...(event.externalId === null ? {} : { external_id: event.externalId }),
      ...(event.anonymousId === null ? {} : { anonymous_id: event.anonymousId }),
      properties: JSON.parse(event.properties),
      occurred_at: new Date(event.occurredAt).toISOString(),
    };
    expect(EventInput.safeParse(input).error).toBeUndefined();
    expect(event.receivedAt).toBeGreaterThanOrEqual(event.occurredAt);
  }
  for (let number = 0; number < 500; number += 1) {
    const { email } = makePerson(1, number).traits;
    expect(EmailAddress.parse(email)).toBe(email);
  }
});

test('people are as people are: many kinds of events, a few who come often, some who tell who they are', () => {
  const past = new Past(options({ people: 500, events: 20_000, days: 200 }));
  const events = [...past.days()].flat();
  expect(new Set(events.map(({ name }) => name)).size).toBeGreaterThanOrEqual(8);
  const counts = new Map<string, number>();
  for (const { anonymousId } of events)
    if (anonymousId) counts.set(anonymousId, (counts.get(anonymousId) ?? 0) + 1);
  const sorted = [...counts.values()].toSorted((a, b) => b - a);
  const sum = (list: number[]): number => list.reduce((total, count) => total + count, 0);
  expect(sum(sorted.slice(0, 50)) / sum(sorted)).toBeGreaterThan(0.3);
  const known = new Set(events.flatMap(({ externalId }) => externalId ?? []));
  expect(known.size).toBeGreaterThan(100);
  expect(known.size).toBeLessThan(400);
  // Nobody has an external id before the event that says so; in its millisecond, others may have.
  const signedUpAt = new Map(
    events.flatMap(({ externalId, name, occurredAt }) =>
      externalId !== null && name === 'user_signed_up' ? [[externalId, occurredAt] as const] : [],
    ),
  );
  for (const { externalId, occurredAt } of events)
    if (externalId !== null)
      expect(signedUpAt.get(externalId) ?? Infinity).toBeLessThanOrEqual(occurredAt);
});

test('who signed up is linked to their browser and was sent a welcome, with what was heard of it', async () => {
  // Of a thousand people two or three complain, and which ones depends on when the past ends.
  const projectId = await seed({ people: 8_000, events: 24_000 });
  const mails = await select(
    `select send.*, event.name as event, event.external_id, run.identity_id, profile.tags, address.reason,
      (select count(*)::int from delivery.attempts where attempts.project_id = $1 and attempts.send_id = send.send_id)
        as attempts,
      array(select kind from feedback.notices where notices.project_id = $1 and notices.send_id = send.send_id) as told
    from delivery.sends as send
    join automations.runs as run using (project_id, run_id)
    join ingest.events as event using (project_id, event_id)
    join profiles.profiles as profile on profile.project_id = $1 and profile.profile_id = send.profile_id
    join suppression.addresses as address on address.project_id = $1 and address.address_key = send.address_key
    where send.project_id = $1 and event.occurred_at = run.trigger_event_at and profile.email = send.recipient`,
    projectId,
  );
  const signUps = await select(
    `${EVENTS.replace('order', "and name = 'user_signed_up' order")}`,
    projectId,
  );
  expect(mails.map(({ external_id }): string => external_id).toSorted()).toEqual(
    signUps.map(({ external_id }): string => external_id).toSorted(),
  );
  expect(new Set(mails.map(({ template_version }) => template_version)).size).toBe(2);
  for (const mail of mails) {
    expect(mail).toMatchObject({ event: 'user_signed_up', status: 'accepted', attempts: 1 });
    expect(mail.accepted_at.getTime()).toBeGreaterThanOrEqual(mail.queued_at.getTime());
    for (const fact of ['delivered', 'bounced', 'complained'])
      expect([fact, mail.told.includes(fact)]).toEqual([fact, mail[`${fact}_at`] !== null]);
    const tags = { hard_bounce: ['hard_bounced'], complaint: ['complained'] };
    expect(mail.tags).toEqual(tags[mail.reason as keyof typeof tags] ?? []);
  }
  const heard = new Set(mails.flatMap(({ told }): string[] => told));
  expect([...heard].toSorted()).toEqual([
    'bounced',
    'clicked',
    'complained',
    'delivered',
    'opened',
  ]);
  const history = await select('select from suppression.history where project_id = $1', projectId);
  expect(history).toHaveLength(mails.filter(({ reason }) => reason !== null).length);
  const active = await select('select from automations.triggers where project_id = $1', projectId);
  expect(active).toEqual([]);
});

/** Everything that a seed made, by table. */
const everything = async (projectId: string) => {
  const tables = [
    'ingest.events',
    'identity.identities',
    'identity.links',
    'profiles.profiles',
    'profiles.traits',
    'automations.runs',
    'delivery.sends',
    'feedback.notices',
    'suppression.addresses',
  ];
  const hash = (table: string): string =>
    `select md5(string_agg(t::text, ',' order by t::text)) from ${table} as t where project_id = $1`;
  return select(tables.map(hash).join(' union all '), projectId);
};

test('an interrupted seed goes on where it was: the same options make what is missing, and nothing twice', async () => {
  const given = options({ people: 3_000, events: 14_000 });
  const projectId = newId();
  for (const stopAt of [1, 5_001, 10_001]) {
    const stopped = makeSeed(database.deps, projectId, given, (stored) => {
      if (stored >= stopAt) throw new Error('interrupted');
    });
    await expect(stopped).rejects.toThrow('interrupted');
  }
  await makeSeed(database.deps, projectId, given);
  expect(await select(EVENTS, projectId)).toHaveLength(14_000);
  const made = await everything(projectId);
  await makeSeed(database.deps, projectId, given);
  expect(await everything(projectId)).toEqual(made);
  const people = await select(
    'select from identity.identities where project_id = $1 offset 2000',
    projectId,
  );
  expect(people.length).toBeGreaterThan(0);
});

test('the same people with another past are refused, begun or done; another seed adds to it', async () => {
  const projectId = await seed();
  for (const other of [{ events: 1_600 }, { until: new Date(UNTIL.getTime() - 1) }])
    await expect(makeSeed(database.deps, projectId, options(other))).rejects.toThrow(
      /another seed=/,
    );
  await makeSeed(database.deps, projectId, options({ seed: 2 }));
  expect(await select(EVENTS, projectId)).toHaveLength(3_000);
  const begun = newId();
  const stopped = makeSeed(database.deps, begun, options(), () => {
    throw new Error('interrupted');
  });
  await expect(stopped).rejects.toThrow('interrupted');
  const later = options({ until: new Date() });
  await expect(makeSeed(database.deps, begun, later)).rejects.toThrow(
    /go on with what was interrupted/,
  );
});

const run = (...args: string[]) => runCommand('src/runtime/seed.ts', args, database.ownerEnv);

test('the command makes a project with keys, says how far it is, and leaves defaults for what is empty', async () => {
  const { status, stdout, stderr } = run('people=20', 'events=300', 'days=', 'seed=', 'project=');
  expect([status, stderr]).toEqual([
    0,
    expect.stringMatching(/300 of 300 events, [\d,]+ a second/),
  ]);
  const made = JSON.parse(stdout);
  expect(made.server_key).toMatch(/^svc_secret_live_/);
  expect(await select(EVENTS, made.project_id)).toHaveLength(300);
  const [, ...goOn] =
    /goes on with it: make( seed)(.*)/.exec(stderr)?.slice(1).join('').split(' ') ?? [];
  const resumed = run(...goOn.slice(1));
  expect([resumed.status, JSON.parse(resumed.stdout)]).toEqual([
    0,
    { project_id: made.project_id },
  ]);
  expect(resumed.stderr).toMatch(/its keys were shown when it was made/);
  expect(resumed.stderr).toMatch(/300 of 300 events, there already/);
  expect(await select(EVENTS, made.project_id)).toHaveLength(300);
  const again = run('people=20', 'events=300', 'seed=2', `project=${made.project_id}`);
  expect(JSON.parse(again.stdout)).toEqual({ project_id: made.project_id });
  expect(await select(EVENTS, made.project_id)).toHaveLength(600);
});

test('the command names everything that is wrong with what it was given', () => {
  for (const [args, said] of [
    [['people=10', 'events=5'], /more events than people/],
    [['people=x'], /people/],
    [['days=9999'], /days/],
    [[`project=${newId()}`], /There is no project/],
    [['peple=1'], /peple/],
  ] as const) {
    const { status, stderr } = run(...args);
    expect([status, stderr]).toEqual([1, expect.stringMatching(said)]);
  }
});
