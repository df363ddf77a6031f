import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import type { Mailed } from '../delivery/delivery.ts';
import * as segments from '../segments/segments.ts';
import { beginningOf, findFirstEvent } from './past.ts';
import type { Identifier } from './past_queries.ts';
import type { Goal } from './step_schema.ts';
import { walk } from './walk.ts';
import type { Logged } from './walk.ts';
import type { Effects, EventView, Outcome, PersonView, Reader, Run } from './world.ts';

/** Somebody as a simulation knows them. */
export type Somebody = {
  person: PersonView;
  identifiers: readonly Identifier[];
  /** Whether a server has said their address, and not only a browser. */
  isConfirmed: boolean;
  /** When they would have been sent mails, by all their runs so far. */
  sentAt: Date[];
  /** The same of whoever has an address, in lower case. */
  sentTo: Map<string, Date[]>;
};

export type Virtual = {
  log: (Logged & { at: Date })[];
  outcome: Outcome | 'inside';
  reached: Set<string>;
};

/** What stops mail to an address, as the profile's tags tell it. */
const STOPPING = [
  'hard_bounced',
  'complained',
  'suppressed',
  'provider_suppressed',
  'soft_bounced',
];

const statusFor = ({ tags }: PersonView, category: string): string => {
  if (tags.some((tag) => STOPPING.includes(tag))) return 'suppressed';
  return category === 'marketing' && tags.includes('unsubscribed') ? 'unsubscribed' : 'queued';
};

type Past = {
  scope: Scope;
  run: Run;
  somebody: Somebody;
  /** Null where no event began the run. */
  trigger: EventView | null;
  clock: { now: Date };
};

type Sought = { run: Run; person: PersonView; segmentId: string; until: Date };

const findEntered = async (scope: Scope, { run, person, segmentId, until }: Sought) => {
  const sought = { segmentId, profileId: person.profileId, change: 'entered' as const };
  const told = await segments.findFirstEntry(scope, sought, { since: run.started_at, until });
  return told && { entry: told.entry, at: told.changed_at };
};

const DAY_MS = 86_400_000;

const mailedAt = (sentTo: Map<string, Date[]>, email: string): Date[] => {
  const known = sentTo.get(email.toLowerCase()) ?? [];
  sentTo.set(email.toLowerCase(), known);
  return known;
};

/** Of a simulation all mails are of one automation. */
const countMailed = (sentTo: Map<string, Date[]>, email: string, now: Date): Mailed => {
  const sent = mailedAt(sentTo, email);
  const since = now.getTime() - DAY_MS;
  return { per_automation: sent.length, per_day: sent.filter((at) => at.getTime() > since).length };
};

/** The person's past instead of today's tables, and notes instead of deeds. */
const openVirtual = ({ scope, run, somebody, trigger, clock }: Past) => {
  const sent: { step_id: string; facts: string[] }[] = [];
  const { identifiers, sentAt, sentTo } = somebody;
  let { person, isConfirmed } = somebody;
  const reader: Reader = {
    person: () => Promise.resolve(person),
    triggerEvent: () => Promise.resolve(trigger),
    firstEvent: (match, until) =>
      findFirstEvent(scope, identifiers, match, { since: beginningOf(run), until }),
    entered: (segmentId, until) => findEntered(scope, { run, person, segmentId, until }),
    holds: (where) => {
      const today = segments.todayAt(clock.now);
      return segments.holdsFor(scope, person.profileId, { where, today });
    },
    call: () => Promise.resolve(null),
    sends: () => Promise.resolve(sent),
    mailedUnconfirmed: (email) =>
      Promise.resolve(isConfirmed ? null : countMailed(sentTo, email, clock.now)),
    sentSince: (since) => Promise.resolve(sentAt.filter((at) => at > since)),
  };
  const effects: Effects = {
    send: ({ stepId, to }) => {
      const status = statusFor(person, run.definition.settings.category);
      sent.push({
        step_id: stepId,
        facts: status === 'queued' ? ['queued', 'accepted', 'delivered'] : ['queued', 'stopped'],
      });
      if (status === 'queued') {
        sentAt.push(clock.now);
        mailedAt(sentTo, to).push(clock.now);
      }
      return Promise.resolve({ sendId: newId(), status });
    },
    skip: () => Promise.resolve(),
    call: () => Promise.resolve({ callId: newId(), isRecorded: true }),
    changeTraits: ({ traits, authority }) => {
      const isServer = authority === 'server';
      const told = isServer || !isConfirmed ? traits['email'] : null;
      const email = typeof told === 'string' ? told : person.email;
      isConfirmed ||= isServer && Object.hasOwn(traits, 'email');
      person = { ...person, email, traits: { ...person.traits, ...traits } };
      return Promise.resolve();
    },
  };
  return { reader, effects };
};

const findWhen = async (reader: Reader, awaited: Goal, until: Date): Promise<Date | null> =>
  'segment_id' in awaited
    ? ((await reader.entered(awaited.segment_id, until))?.at ?? null)
    : ((await reader.firstEvent(awaited, until))?.occurred_at ?? null);

/** When the run would go on: at its time, or with the first event that wakes it before. */
const findWake = async (
  { reader }: { reader: Reader },
  awaited: readonly (Goal | null)[],
  until: Date,
): Promise<Date> => {
  let wake = until;
  for (const one of awaited) {
    const at = one && (await findWhen(reader, one, until));
    if (at && at < wake) wake = at;
  }
  return wake;
};

/** Walks a run through the past, from its beginning on until it ends or would still be inside now. */
export const walkPast = async (
  scope: Scope,
  { run, somebody, trigger, now }: Omit<Past, 'clock' | 'scope'> & { now: Date },
): Promise<Virtual> => {
  const clock = { now: run.started_at };
  const around = openVirtual({ scope, run, somebody, trigger, clock });
  const virtual: Virtual = { log: [], outcome: 'inside', reached: new Set([run.step_id]) };
  let stand = run;
  while (clock.now <= now) {
    const at = clock.now;
    const walked = await walk(stand, { now: at, dueAt: at, ...around });
    virtual.log.push(...walked.log.map((one) => ({ ...one, at })));
    for (const { stepId } of walked.log) virtual.reached.add(stepId);
    if (walked.stand.kind === 'ended') return { ...virtual, outcome: walked.stand.outcome };
    const { stepId, until, for: match } = walked.stand;
    virtual.reached.add(stepId);
    stand = { ...stand, step_id: stepId, until, entries: stand.entries + walked.log.length };
    const { goal } = run.definition.settings;
    const wake = await findWake(around, [match, goal], until);
    clock.now = wake > at ? wake : until;
  }
  return virtual;
};
