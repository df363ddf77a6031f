import { mailboxOf } from '../base/email_address.ts';
import type { Mailed, OfRecipient, PastSpellings } from '../delivery/delivery.ts';
import type { PastSegments } from '../segments/segments.ts';
import { noteRests } from './assumed.ts';
import type { Rests } from './assumed.ts';
import type { Family } from './family.ts';
import { findArm, findSent } from './virtual_others.ts';
import { openEffects } from './virtual_effects.ts';
import { beginsToWait, findWake } from './virtual_wakes.ts';
import { walk } from './walk.ts';
import type { Logged } from './walk.ts';
import type { CallView, EventView, OwnSend, Outcome, Reader, Run } from './world.ts';

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
  /** Traits of which a change moves the date that it waits for. */
  follows: readonly string[];
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
  follows: [],
  rests: { traits: new Set(), segments: new Set() },
});

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
    virtual.follows = [];
    return;
  }
  const { stepId, until, for: match, follows } = stand;
  virtual.follows = follows;
  virtual.reached.add(stepId);
  const { goal } = run.definition.settings;
  const isNew = beginsToWait(virtual, { stepId, hasMatch: match !== null, hasGoal: goal !== null });
  virtual.run = { ...run, step_id: stepId, until, entries };
  const awaited = [match, goal].filter((one) => one !== null);
  if (isNew || virtual.called.has(stepId)) {
    virtual.wakeAt = at;
    return;
  }
  const wake = await findWake(past.family, virtual, { awaited, until, after: at });
  // Time goes by, whatever a step says.
  virtual.wakeAt = wake > at || log.length > 0 ? wake : new Date(at.getTime() + 1);
};
