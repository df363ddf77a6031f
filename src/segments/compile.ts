import { sql } from '../base/db.ts';
import type { FragmentSqlToken } from 'slonik';
import { isNamed } from '../ingest/ingest.ts';
import { countedBy } from './conditions.ts';
import { dayOf, DAY_MS, toDate } from './moments.ts';
import { listConditions } from './schema.ts';
import type { Condition, Definition, EventLeaf } from './schema.ts';
import type { ValueTest } from './value_schema.ts';
import { SUPPRESSED_TAGS, UNSUBSCRIBED_TAG } from './tags.ts';

/** Where a definition is read: a project, on a day in UTC. The row it is asked of is called `profile`. */
export type Place = {
  projectId: string;
  today: number;
  /** Whether a condition about events is counted; what is not, is read from the timeline. All, if left out. */
  isCounted?: (conditionId: string) => boolean;
};

const dateOf = (day: number) => sql.fragment`${toDate(day)}::date`;
const isSuppressed = () => sql.fragment`profile.tags && ${sql.array([...SUPPRESSED_TAGS], 'text')}`;

/** The same as counters, for an identity `known`, from the events themselves. */
const fromTimeline = (leaf: EventLeaf, { projectId }: Place, since: FragmentSqlToken) => {
  const eventsOf = (kind: string, column: FragmentSqlToken) => sql.fragment`
    select event.occurred_at from ingest.events as event
    where event.project_id = ${projectId} and known.kind = ${kind} and ${column} = known.value
    and ${isNamed(leaf.event)}
    and segments.passes(event.properties, ${JSON.stringify(leaf.where)}::jsonb)`;
  return sql.fragment`
    select dated.day, count(*) as count,
      min(seen.occurred_at) as first_at, max(seen.occurred_at) as last_at
    from (
      ${eventsOf('external', sql.fragment`event.external_id`)}
      union all
      ${eventsOf('anonymous', sql.fragment`event.external_id is null and event.anonymous_id`)}
    ) as seen
    cross join lateral (select (seen.occurred_at at time zone 'UTC')::date as day) as dated
    where true ${since}
    group by day`;
};

const fromCounters = (
  conditionId: string,
  { projectId }: Place,
  since: FragmentSqlToken,
) => sql.fragment`
  select day, count, first_at, last_at from segments.counters
  where project_id = ${projectId} and identity_id = known.identity_id and condition_id = ${conditionId}
  ${since}`;

/** The identities of the profile, by a step that the planner cannot take another way. */
const identitiesOf = ({ projectId }: Place) => sql.fragment`(
  select identity_id, kind, value from identity.identities
  where project_id = ${projectId} and profile_id = profile.profile_id and erasure_id is null
  offset 0
)`;

/**
 * What was counted of the profile, over all of its identities. Each step is a look-up by key: joined freely, the
 * planner may read everybody's counters for each profile, as long as it knows nothing of the table.
 */
const counted = (leaf: EventLeaf, place: Place, what: FragmentSqlToken) => {
  const { conditionId } = countedBy(leaf);
  const since =
    leaf.kind === 'event' && leaf.within_days !== undefined
      ? sql.fragment`and day > ${dateOf(place.today - leaf.within_days)}`
      : sql.fragment``;
  const isCounted = place.isCounted?.(conditionId) ?? true;
  return sql.fragment`(
    select ${what}
    from ${identitiesOf(place)} as known
    cross join lateral (
      ${isCounted ? fromCounters(conditionId, place, since) : fromTimeline(leaf, place, since)}
      offset 0
    ) as counted
  )`;
};

const countTests = {
  at_least: sql.fragment`>=`,
  at_most: sql.fragment`<=`,
  exactly: sql.fragment`=`,
} as const;

const seenAt = (leaf: EventLeaf & { kind: 'event_time' }, place: Place) =>
  counted(
    leaf,
    place,
    leaf.occurrence === 'first'
      ? sql.fragment`min(counted.first_at)`
      : sql.fragment`max(counted.last_at)`,
  );

const momentOf = (text: string) => sql.timestamp(new Date(text));

const compileTime = (leaf: EventLeaf & { kind: 'event_time' }, place: Place) => {
  const { test } = leaf;
  const at = seenAt(leaf, place);
  switch (test.is) {
    case 'before':
      return sql.fragment`coalesce(${at} < ${momentOf(test.value)}, false)`;
    case 'after':
      return sql.fragment`coalesce(${at} > ${momentOf(test.value)}, false)`;
    case 'within_last': {
      const from = sql.timestamp(new Date((place.today - test.days + 1) * DAY_MS));
      return sql.fragment`coalesce(${at} >= ${from}, false)`;
    }
  }
};

const join = (of: readonly Condition[], place: Place, word: FragmentSqlToken) =>
  sql.fragment`(${sql.join(
    of.map((one) => compileCondition(one, place)),
    word,
  )})`;

/** A condition as a fragment that is true or false, never null. */
const compileCondition = (condition: Condition, place: Place): FragmentSqlToken => {
  switch (condition.kind) {
    case 'all':
      return join(condition.of, place, sql.fragment` and `);
    case 'any':
      return join(condition.of, place, sql.fragment` or `);
    case 'not':
      return sql.fragment`(not ${compileCondition(condition.of, place)})`;
    case 'trait':
      return sql.fragment`segments.holds(profile.traits -> ${condition.trait}::text,
        ${JSON.stringify(condition.test)}::jsonb, ${dateOf(place.today)})`;
    case 'event': {
      const { is, value } = condition.count;
      const sum = counted(condition, place, sql.fragment`coalesce(sum(counted.count), 0)`);
      return sql.fragment`${sum} ${countTests[is]} ${value}::integer`;
    }
    case 'event_time':
      return compileTime(condition, place);
    case 'segment':
      return sql.fragment`exists (
        select from segments.members as member
        where member.project_id = ${place.projectId} and member.segment_id = ${condition.segment_id}
        and member.profile_id = profile.profile_id
      )`;
    case 'imported':
      return sql.fragment`exists (
        select from ${identitiesOf(place)} as known
        cross join lateral (
          select from segments.imported
          where project_id = ${place.projectId} and identity_id = known.identity_id
          and segment_id = ${condition.segment_id}
          offset 0
        ) as imported
      )`;
    case 'tag':
      return sql.fragment`profile.tags @> ${sql.array([condition.tag], 'text')}`;
    case 'suppressed':
      return sql.fragment`(${isSuppressed()})`;
    case 'subscribed':
      return sql.fragment`(profile.email is not null
        and not profile.tags @> ${sql.array([UNSUBSCRIBED_TAG], 'text')})`;
  }
};

/** Whether `profile` is in the segment: true or false, never null. */
export const compile = ({ include_suppressed, where }: Definition, place: Place) =>
  include_suppressed
    ? compileCondition(where, place)
    : sql.fragment`(not (${isSuppressed()}) and ${compileCondition(where, place)})`;

/** Returns the first day of the window that holds now or next. Null for tests without a window. */
const beginningOf = (moment: FragmentSqlToken, test: ValueTest, today: FragmentSqlToken) => {
  const day = sql.fragment`(${moment} at time zone 'UTC')::date`;
  switch (test.is) {
    case 'within_last':
      return day;
    case 'within_next':
      return sql.fragment`${day} - ${test.days - 1}::integer`;
    case 'anniversary':
      return sql.fragment`segments.next_anniversary(${day}, ${today}) - ${test.days - 1}::integer`;
    default:
      return null;
  }
};

const wakeOfTrait = (trait: string, test: ValueTest, place: Place) => {
  const today = dateOf(place.today);
  const moment = sql.fragment`segments.read_moment(profile.traits -> ${trait}::text)`;
  const from = beginningOf(moment, test, today);
  if (from === null || !('days' in test)) return [];
  return [sql.fragment`segments.next_day(${from}, ${test.days}::integer, ${today})`];
};

const wakeOfEvents = (leaf: EventLeaf, place: Place): FragmentSqlToken[] => {
  if (leaf.kind === 'event') {
    if (leaf.within_days === undefined) return [];
    return [counted(leaf, place, sql.fragment`min(counted.day) + ${leaf.within_days}::integer`)];
  }
  if (leaf.test.is !== 'within_last') return [];
  const day = sql.fragment`(${seenAt(leaf, place)} at time zone 'UTC')::date + ${leaf.test.days}::integer`;
  return [sql.fragment`(case when ${day} > ${dateOf(place.today)} then ${day} end)`];
};

/** The days on which what `profile` is asked may change by itself, as fragments that may be null; often none. */
export const compileWakes = ({ where }: Definition, place: Place): FragmentSqlToken[] =>
  listConditions(where).flatMap((one) => {
    if (one.kind === 'trait') return wakeOfTrait(one.trait, one.test, place);
    return one.kind === 'event' || one.kind === 'event_time' ? wakeOfEvents(one, place) : [];
  });

/** The day it is at a moment. */
export const todayAt = (now: Date): number => dayOf(now.getTime());
