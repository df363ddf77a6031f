import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { findRemains } from '../support/remains.ts';
import { findRows } from './evidence.ts';
import type { Evidence, Invariant, Samples } from './evidence.ts';
import { invariantsOfChanges } from './invariants_of_changes.ts';
import { invariantsOfEvents } from './invariants_of_events.ts';
import { invariantsOfPeople } from './invariants_of_people.ts';
import { invariantsOfSends } from './invariants_of_sends.ts';
import { PAGES_MIN, READERS } from './make_project.ts';
import { findUnfinished } from './unfinished.ts';

/** More than any process of the service has ever needed here. */
const RESIDENT_MIB_MAX = 700;

/** How long what came due while others were judged has for being done. */
const COMES_AND_GOES_MS = 10_000;
const LOOK_MS = 250;

/** What is left, and stays: sends and runs come due, and are done, at any moment. */
const findLeft = async (client: pg.Client): Promise<string[]> => {
  const giveUpAt = performance.now() + COMES_AND_GOES_MS;
  let left = await findUnfinished(client);
  while (left.length > 0 && performance.now() < giveUpAt) {
    await wait(LOOK_MS);
    const now = new Set(await findUnfinished(client));
    left = left.filter((one) => now.has(one));
  }
  return left;
};

const nothingIsLost: Invariant = {
  id: 'I10',
  text: '60 s after the last fault nothing is held by who is not alive, and nothing that is due is left',
  find: ({ client }) => findLeft(client),
};

const secretsStaySecret: Invariant = {
  id: 'I16',
  text: 'no credential or key is in a table, a job, a log or a refusal',
  find: async ({ client, journal, secrets, leaks }) => {
    const told = Object.entries(secrets).flatMap(([name, secret]) =>
      journal.refusals.some((body) => body.includes(secret)) ? [`${name} in a refusal`] : [],
    );
    const left = await findRemains(client, Object.values(secrets));
    return [...leaks, ...told, ...left.map((where) => where.replace(/: .*/, ' holds a secret'))];
  },
};

/** Queues that some process of each run has: whoever said nothing of them was not looked at. */
export const QUEUES = [
  'events',
  'event_bytes',
  'hints',
  'mails_to_render',
  'hand_offs',
  'sends',
  'outcomes',
];

const judgeQueues = ({ queues }: Samples): string[] => [
  ...QUEUES.filter((queue) => ![...queues.keys()].some((name) => name.endsWith(` ${queue}`))).map(
    (queue) => `no process said how many ${queue} it had in hand`,
  ),
  ...[...queues].flatMap(([name, { most, max }]) =>
    most > max ? [`${name}: ${most} in hand, ${max} at most`] : [],
  ),
];

const memoryIsBounded: Invariant = {
  id: 'I17',
  text: `every process keeps within ${RESIDENT_MIB_MAX} MiB of memory, and each queue in it within its bound`,
  find: ({ samples }) =>
    Promise.resolve([
      ...[...samples.residentMiB].flatMap(([name, mib]) =>
        mib > RESIDENT_MIB_MAX ? [`${name} had ${Math.round(mib)} MiB`] : [],
      ),
      ...judgeQueues(samples),
    ]),
};

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** When the clock of the queue gave a job. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

const isId = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).every(isId)
    : typeof value !== 'string' || ID.test(value) || MOMENT.test(value);

const jobsHoldIds: Invariant = {
  id: 'I18',
  text: 'a job holds ids only',
  find: ({ samples }) =>
    Promise.resolve(
      [...samples.payloads].flatMap((payload) =>
        isId(JSON.parse(payload)) ? [] : [`a job holds ${payload}`],
      ),
    ),
};

/** What is counted of pages, against the timeline, of every identity. */
const WRONG_COUNTERS = `
  with counted as (
    select project_id, identity_id, sum(count)::int as count from segments.counters group by 1, 2
  ), happened as (
    select event.project_id, known.identity_id, count(*)::int as count
    from ingest.events as event
    join segments.conditions as condition
      on condition.project_id = event.project_id and condition.event_name = event.name and condition.status = 'ready'
    join identity.identities as known on known.project_id = event.project_id
      and known.kind = case when event.external_id is null then 'anonymous' else 'external' end
      and known.value = coalesce(event.external_id, event.anonymous_id)
    group by 1, 2
  )
  select project_id, identity_id, counted.count as counted, happened.count as happened
  from counted full join happened using (project_id, identity_id)
  where counted.count is distinct from happened.count`;

/** Who is in the segment, against what is counted of their identities. */
const WRONG_MEMBERS = `
  with readers as (
    select known.project_id, known.profile_id, sum(counters.count)::int as pages
    from segments.counters as counters join identity.identities as known using (project_id, identity_id)
    group by 1, 2 having sum(counters.count) >= ${PAGES_MIN}
  ), members as (
    select project_id, profile_id, true as is_member
    from segments.members join segments.segments using (project_id, segment_id) where name = '${READERS}'
  )
  select project_id, profile_id, pages, is_member from readers full join members using (project_id, profile_id)
  where (pages is null) = (is_member is not null)`;

/**
 * What was used of a day's ramp, against the hand-offs of that day: no less. It may be more, where somebody was killed
 * between what they did not begin and giving that back. What was claimed before midnight is of the day before.
 */
const WRONG_RAMPS = `
  select project_id, provider_id, pace.ramp_count, count(*)::int as attempts
  from providers.paces as pace join providers.providers as provider using (project_id, provider_id)
  join delivery.sends as send using (project_id, provider_id)
  join delivery.attempts as attempt using (project_id, send_id)
  where provider.ramp_stages is not null and attempt.outcome is distinct from 'not_started'
  and attempt.started_at >= pace.ramp_day::timestamp at time zone 'UTC' + interval '5 minutes'
  group by project_id, provider_id, pace.ramp_count
  having pace.ramp_count < count(*)`;

const countsAreTrue: Invariant = {
  id: 'I20',
  text: 'counts that are shown are those of the rows',
  find: async (evidence) => [
    ...(await findRows(
      evidence,
      `select send.project_id, send.send_id, send.attempt_count, count(attempt.attempt)::int as attempts
      from delivery.sends as send left join delivery.attempts as attempt using (project_id, send_id)
      group by send.project_id, send.send_id having send.attempt_count <> count(attempt.attempt)`,
    )),
    ...(await findRows(evidence, WRONG_COUNTERS)),
    ...(await findRows(evidence, WRONG_MEMBERS)),
    ...(await findRows(evidence, WRONG_RAMPS)),
    ...(await findRows(
      evidence,
      `select project_id, shown.erased, (
        select count(*)::int from profiles.erasures as erasure
        where erasure.project_id = shown.project_id and erasure.status = 'done'
      ) as done
      from profiles.erase_counts as shown
      where shown.erased <> (
        select count(*) from profiles.erasures as erasure
        where erasure.project_id = shown.project_id and erasure.status = 'done'
      )`,
    )),
  ],
};

const byNumber = (one: Invariant, other: Invariant): number =>
  Number(one.id.slice(1)) - Number(other.id.slice(1));

/** I1 to I20 of the design, in order. */
export const invariants: readonly Invariant[] = [
  ...invariantsOfEvents,
  ...invariantsOfSends,
  ...invariantsOfPeople,
  ...invariantsOfChanges,
  nothingIsLost,
  secretsStaySecret,
  memoryIsBounded,
  jobsHoldIds,
  countsAreTrue,
].toSorted(byNumber);

export type Verdict = Pick<Invariant, 'id' | 'text'> & { broken: string[] };

/** Judges each. */
export const judge = async (evidence: Evidence): Promise<Verdict[]> => {
  const verdicts: Verdict[] = [];
  for (const { id, text, find } of invariants)
    verdicts.push({ id, text, broken: await find(evidence) });
  return verdicts;
};
