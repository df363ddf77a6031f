import { newId } from '../base/ids.ts';
import { mailboxOf } from '../base/email_address.ts';
import type { Mailed, OfRecipient, PastSpellings } from '../delivery/delivery.ts';
import type { PastSegments } from '../segments/segments.ts';
import { noteRests } from './assumed.ts';
import type { Rests } from './assumed.ts';
import type { Family } from './family.ts';
import { findArm, findSent } from './virtual_others.ts';
import { beginsToWait, findWake } from './virtual_wakes.ts';
import { walk } from './walk.ts';
import type { Logged } from './walk.ts';
import type {
  CallView,
  Effects,
  EventView,
  OwnSend,
  Outcome,
  PersonView,
  Reader,
  Run,
} from './world.ts';

/** The time that it is for whoever walks the past. */
export type Clock = { now: Date };

/** One run of the past: where it stands, and what it has decided. */
export type Virtual = {
  run: Run;
  /** When it goes on; null when it has ended. */
  wakeAt: Date | null;
  /** Since when it was to go on, where a restored run is late. */
  dueAt: Date | null;
  entryKey: string;
  /** Of a run that ended as merged: into which run, when, and when it was to go on. */
  merged: { intoRunId: string; at: Date; wakeAt: Date | null } | null;
  /** The merges of it that were undone. */
  undone: { intoRunId: string; from: Date; until: Date }[];
  log: (Logged & { at: Date })[];
  outcome: Outcome | 'inside';
  reached: Set<string>;
  /** Null where no event began it. */
  trigger: EventView | null;
  sent: { stepId: string; at: Date; isTaken: boolean; sendId: string; to: string }[];
  /** Calls that would have been made, by their steps. */
  called: Map<string, CallView>;
  /** What it waits for already: the goal, or what a step waits for. */
  waits: { goal: boolean; stepId: string | null };
  rests: Rests;
};

export const beginVirtual = (
  run: Run,
  { trigger, entryKey }: Pick<Virtual, 'trigger' | 'entryKey'>,
): Virtual => ({
  run,
  wakeAt: run.started_at,
  dueAt: null,
  entryKey,
  merged: null,
  undone: [],
  log: [],
  outcome: 'inside',
  reached: new Set([run.step_id]),
  trigger,
  sent: [],
  called: new Map(),
  waits: { goal: false, stepId: null },
  rests: { traits: new Set(), segments: new Set() },
});

/** What stops mail to an address, as the profile's tags tell it. */
const STOPPING = [
  'hard_bounced',
  'complained',
  'suppressed',
  'provider_suppressed',
  'soft_bounced',
];

const statusFor = (tags: PersonView['tags'], category: string): string => {
  if (tags.some((tag) => STOPPING.includes(tag))) return 'suppressed';
  return category === 'marketing' && tags.includes('unsubscribed') ? 'unsubscribed' : 'queued';
};

export type Past = {
  family: Family;
  /** All runs of the family. */
  runs: readonly Virtual[];
  segments: PastSegments;
  clock: Clock;
  /** What would have been sent to each mailbox, whoever has it. */
  sentTo: Map<string, SentTo[]>;
  spellings: PastSpellings;
  /** How many emails one recipient gets in 24 hours of runs that no server started. */
  recipientMax: number;
};

/** An email of a simulation to one mailbox. */
export type SentTo = { at: Date; isBrowserTriggered: boolean };

const DAY_MS = 86_400_000;

/** Of a simulation all mails are of one automation. */
const countMailed = ({ sentTo, clock: { now } }: Past, email: string): Mailed => {
  const sent = (sentTo.get(mailboxOf(email)) ?? []).filter(({ at }) => at <= now);
  const since = now.getTime() - DAY_MS;
  const today = sent.filter(({ at }) => at.getTime() > since);
  return { per_automation: sent.length, per_day: today.length };
};

const countOfRecipient = (
  { sentTo, recipientMax: max, clock: { now } }: Past,
  email: string,
): OfRecipient => {
  const since = now.getTime() - DAY_MS;
  const sent = (sentTo.get(mailboxOf(email)) ?? []).filter(
    ({ at, isBrowserTriggered }) => isBrowserTriggered && at <= now && at.getTime() > since,
  );
  return { sent: sent.length, max };
};

/** As if every provider took and delivered what it is given, a moment later. */
const toOwnSend = ({ stepId, at, isTaken }: Virtual['sent'][number], now: Date): OwnSend => ({
  step_id: stepId,
  facts: ['queued', ...(isTaken ? (at < now ? ['accepted', 'delivered'] : []) : ['stopped'])],
});

const openReader = (virtual: Virtual, past: Past): Reader => {
  const { run, trigger, sent, called } = virtual;
  const { family, segments, clock } = past;
  return {
    person: () => family.viewAt(run, clock.now),
    triggerEvent: () => Promise.resolve(trigger),
    firstEvent: (match, until) => family.firstEvent(run, match, { until, at: clock.now }),
    entered: (segmentId, until) => family.entered(run, segmentId, { until, at: clock.now }),
    holds: async (where) => {
      const person = family.personAt(run, clock.now);
      const view = await family.viewAt(run, clock.now);
      if (person === null || view === null) return false;
      return segments.holds(where, { ...person, tags: view.tags }, clock.now);
    },
    call: (stepId) => Promise.resolve(called.get(stepId) ?? null),
    sends: () => Promise.resolve(sent.map((one) => toOwnSend(one, clock.now))),
    sentByOther: (stepId, to) => Promise.resolve(findSent(virtual, past, { stepId, to })),
    armOf: (stepId) => Promise.resolve(findArm(virtual, past, stepId)),
    mailedUnconfirmed: (email) => {
      const isConfirmed = family.personAt(run, clock.now)?.isConfirmed ?? false;
      return Promise.resolve(isConfirmed ? null : countMailed(past, email));
    },
    ofRecipient: (email) => Promise.resolve(countOfRecipient(past, email)),
    sentSince: (since, of) => family.sentSince(run, { since, at: clock.now }, of),
  };
};

/** What becomes of an email: other spellings of its mailbox stop it where no server started the run. */
const planAt = async (run: Run, to: string, { family, clock, spellings }: Past) => {
  const { category } = run.definition.settings;
  const tags = (await family.viewAt(run, clock.now))?.tags ?? [];
  const own = statusFor(tags, category);
  await spellings.readAhead([to]);
  const stop =
    own === 'queued' && run.source !== 'server' ? spellings.stopAt(to, clock.now, category) : null;
  spellings.add(to, clock.now);
  return stop ?? own;
};

const openEffects = ({ run, sent, called }: Virtual, past: Past): Effects => ({
  send: async ({ stepId, to }) => {
    const { family, clock, sentTo } = past;
    const status = await planAt(run, to, past);
    const isTaken = status === 'queued';
    const sendId = newId();
    sent.push({ stepId, at: clock.now, isTaken, sendId, to });
    if (isTaken) {
      const isBrowserTriggered = run.source !== 'server';
      family.planned.push({ identityId: run.identity_id, at: clock.now, isBrowserTriggered });
      const mailbox = mailboxOf(to);
      const email = { at: clock.now, isBrowserTriggered };
      sentTo.set(mailbox, [...(sentTo.get(mailbox) ?? []), email]);
    }
    return { sendId, status };
  },
  skip: () => Promise.resolve(),
  // As if whoever is called took it at once.
  call: ({ stepId }) => {
    const callId = newId();
    called.set(stepId, {
      callId,
      status: 'delivered',
      retryAt: null,
      httpStatus: 200,
      reason: null,
    });
    return Promise.resolve({ callId });
  },
  changeTraits: ({ traits, setAt: set_at, authority }) => {
    const told = { identityId: run.identity_id, traits, set_at, authority, toldAt: past.clock.now };
    past.family.people.imagine(told);
    return Promise.resolve(true);
  },
});

/** Walks a run of the past on from where it stands, at the time that the clock shows. */
export const walkOn = async (virtual: Virtual, past: Past): Promise<void> => {
  const { now: at } = past.clock;
  const { run } = virtual;
  const toldSince = past.family.personAt(run, at)?.toldSince ?? new Set();
  const around = { reader: openReader(virtual, past), effects: openEffects(virtual, past) };
  const dueAt = virtual.dueAt ?? virtual.wakeAt ?? at;
  const { log, stand } = await walk(run, { now: at, dueAt, ...around });
  virtual.dueAt = null;
  virtual.log.push(...log.map((one) => ({ ...one, at })));
  for (const { stepId } of log) virtual.reached.add(stepId);
  noteRests(
    virtual.rests,
    { definition: run.definition, stepIds: log.map(({ stepId }) => stepId) },
    { segments: past.segments, at, toldSince },
  );
  const entries = run.entries + log.length;
  if (stand.kind === 'ended') {
    virtual.outcome = stand.outcome;
    virtual.wakeAt = null;
    return;
  }
  const { stepId, until, for: match } = stand;
  virtual.reached.add(stepId);
  const { goal } = run.definition.settings;
  const isNew = beginsToWait(virtual, { stepId, hasMatch: match !== null, hasGoal: goal !== null });
  virtual.run = { ...run, step_id: stepId, until, entries };
  const awaited = [match, goal].filter((one) => one !== null);
  if (isNew || virtual.called.has(stepId)) {
    virtual.wakeAt = at;
    return;
  }
  const wake = await findWake(past.family, virtual.run, { awaited, until, after: at });
  // Time goes by, whatever a step says.
  virtual.wakeAt = wake > at || log.length > 0 ? wake : new Date(at.getTime() + 1);
};
