import type { Scope } from '../base/db.ts';
import { Refusal } from '../base/refusal.ts';
import * as profiles from '../profiles/profiles.ts';
import * as segments from '../segments/segments.ts';
import { findFailing } from '../segments/segments.ts';
import { isFrom } from './event_match.ts';
import { listLogs } from './erase_queries.ts';
import { findNewestOf, listRefusals, listSendsOf } from './explain_queries.ts';
import type { RefusedRow, SentRow } from './explain_queries.ts';
import { isLate } from './late.ts';
import { withSpelling } from './other_spelling.ts';
import { standOf, timeOf } from './send_stand.ts';
import { isDecided } from './decisions.ts';
import type { Decided } from './decisions.ts';
import { findStop, stops, toEntry } from './explanation.ts';
import { toAbsence, toBeginning, toRefusal } from './explain_schedule.ts';
import type { Entry, Explanation } from './explanation.ts';
import { findVersion } from './queries.ts';
import type { Kept } from './queries.ts';
import type { Definition } from './schema.ts';
import { readClock } from './run_queries.ts';
import { findAfterEntry } from './segment_queries.ts';
import { findRunById, listRunsFor } from './shown_queries.ts';
import type { ShownRun } from './shown_queries.ts';
import type { z } from 'zod';

/** How many runs of one person one answer tells of, the newest. */
export const EXPLAINED_RUNS_MAX = 20;
type Members = Awaited<ReturnType<typeof profiles.listMembers>>;
type Asked = {
  scope: Scope;
  kept: Kept;
  profileId: string;
  members: Members;
  definition: Definition | null;
};

const STANDS: Record<Kept['status'], Entry[]> = {
  draft: [toEntry('automation_draft')],
  active: [],
  paused: [toEntry('automation_paused')],
  archived: [toEntry('automation_archived')],
};

type OfEvent = Definition & { trigger: { kind: 'event' } };
type OfSegment = Extract<Definition['trigger'], { kind: 'segment_entered' | 'segment_left' }>;
/**
 * One time that a person came: a run of theirs, or what did not become one, and when. An event from a source that does
 * not count is told, and hides no reason of one that counts: anyone with a publishable key can send it.
 */
type Coming = { at: Date; entries: Entry[]; isUncounted?: boolean };
/** The times that they came, or why nobody can say that they ever did. */
type Came = { comings: Coming[]; absence: Entry[] };

const NOBODY: Came = { comings: [], absence: [] };

/** Why coming into a segment last, or going, started nothing: nobody did, or not so that it counts. */
const explainEntry = async (
  { scope, kept, profileId }: Asked,
  { segment_id: segmentId, kind }: OfSegment,
  known: ReadonlySet<string>,
): Promise<Came> => {
  const change = kind === 'segment_entered' ? ('entered' as const) : ('left' as const);
  const told = await segments.findLastEntry(scope, { segmentId, profileId, change });
  const detail = { segment_id: segmentId };
  if (told === null) return { comings: [], absence: [toEntry(`not_${change}`, { detail })] };
  if (known.has(String(told.entry))) return NOBODY;
  const about = { at: told.changed_at, detail: { ...detail, entry: String(told.entry) } };
  const came = (decision: Decided): Came => ({
    comings: [{ at: told.changed_at, entries: [...STANDS[kept.status], toEntry(decision, about)] }],
    absence: [],
  });
  if (told.cause === 'fill') return came('found_by_fill');
  if (told.cause === 'undo') return came('link_undone');
  const after = await findAfterEntry(scope, kept.automation_id);
  return came(after !== null && told.entry > after ? 'not_read_yet' : 'not_active_then');
};

type Event = NonNullable<Awaited<ReturnType<typeof findNewestOf>>>;

/** Why an event that counts started nothing: which filter did not hold, or that it was late. */
const explainCounted = ({ kept }: Asked, { trigger, settings }: OfEvent, event: Event): Coming => {
  const came = (decision: Decided, more: Record<string, string> = {}): Coming => {
    const detail = { event_id: event.event_id, ...more };
    const entry = toEntry(decision, { at: event.occurred_at, detail });
    return { at: event.received_at, entries: [...STANDS[kept.status], entry] };
  };
  const failing = findFailing(trigger.where, event.properties);
  if (failing) return came('filter', { property: failing.property, is: failing.test.is });
  return came(isLate(event, settings.late_events) ? 'late' : 'not_active_then');
};

const toUncounted = (event: Event, before: readonly Entry[]): Coming => ({
  at: event.received_at,
  entries: [
    ...before,
    toEntry('source', {
      at: event.occurred_at,
      detail: { event_id: event.event_id, source: event.source },
    }),
  ],
  isUncounted: true,
});

/** Why the last trigger event that counts started nothing, and whether a later one does not count. */
const explainEvent = async (
  asked: Asked,
  definition: OfEvent,
  known: ReadonlySet<string>,
): Promise<Came> => {
  const { scope, members } = asked;
  const { event: name, source } = definition.trigger;
  const now = await readClock(scope);
  const newest = await findNewestOf(scope, members, { name, now });
  if (newest === null)
    return { comings: [], absence: [toEntry('not_triggered', { detail: { event: name } })] };
  const isCounted = isFrom(definition.trigger, newest.source);
  const counted = isCounted ? newest : await findNewestOf(scope, members, { name, source, now });
  const isExplained = counted === null || known.has(counted.event_id);
  const comings = isExplained ? [] : [explainCounted(asked, definition, counted)];
  const before = isExplained ? STANDS[asked.kept.status] : [];
  return { comings: isCounted ? comings : [...comings, toUncounted(newest, before)], absence: [] };
};

/** Whether and why what they did last started nothing. */
const explainTrigger = async (asked: Asked, known: ReadonlySet<string>): Promise<Came> => {
  const { definition } = asked;
  if (definition === null) return NOBODY;
  const { trigger } = definition;
  if (trigger.kind === 'manual') return { comings: [], absence: [toEntry('not_started')] };
  if (trigger.kind === 'schedule') return { comings: [], absence: [toAbsence(trigger.segment_id)] };
  return trigger.kind === 'event'
    ? explainEvent(asked, { ...definition, trigger }, known)
    : explainEntry(asked, trigger, known);
};

type Logs = Awaited<ReturnType<typeof listLogs>>;

const endOf = ({ status, outcome, ended_at: at, run_id: runId }: ShownRun, kept: Kept): Entry[] => {
  const isFrozen = status === 'paused' || (status === 'active' && kept.status === 'paused');
  if (isFrozen) return [toEntry('run_frozen', { runId })];
  return outcome === 'archived' || outcome === 'erased' || outcome === 'went_in_circles'
    ? [toEntry(outcome, { at, runId })]
    : [];
};

const explainRun = async (
  { scope, kept }: Asked,
  run: ShownRun,
  { logs, sends }: { logs: Logs; sends: ReadonlyMap<string, SentRow> },
): Promise<Coming> => {
  const { run_id: runId } = run;
  const entries = [await toBeginning(scope, run)];
  for (const { run_id, step_id: stepId, decision, detail, decided_at } of logs) {
    if (run_id !== runId || !isDecided(decision)) continue;
    const told = Object.fromEntries(
      Object.entries(detail).filter((one): one is [string, string] => typeof one[1] === 'string'),
    );
    const sent = sends.get(told['send_id'] ?? '');
    const stand = sent ? await standOf(scope, sent) : { decision, detail: {}, other: null };
    const at = sent && stand.decision !== decision ? timeOf(stand.decision, sent) : decided_at;
    const about = { at, runId, stepId, detail: { ...told, ...stand.detail } };
    entries.push(withSpelling(toEntry(stand.decision, about), stand.other));
  }
  return { at: run.started_at, entries: [...entries, ...endOf(run, kept)] };
};

const explainRuns = async (asked: Asked, runs: readonly ShownRun[]): Promise<Coming[]> => {
  const runIds = runs.map(({ run_id }) => run_id);
  const logs = await listLogs(asked.scope, runIds);
  const rows = await listSendsOf(asked.scope, runIds);
  const sends = new Map(rows.map((row) => [row.send_id, row]));
  const comings: Coming[] = [];
  for (const run of runs.toReversed()) comings.push(await explainRun(asked, run, { logs, sends }));
  return comings;
};

const toComing = (row: RefusedRow, definition: Definition | null): Coming => ({
  at: row.refused_at,
  entries: [toRefusal(row, definition)],
});

type Explained = Pick<z.output<typeof Explanation>, 'decisions' | 'stopped_by'>;

/** Everything in its order. Where nobody came, how the automation stands is the first that stops; else it is told. */
const inOrder = (kept: Kept, { comings, absence }: Came): Explained => {
  const ordered = comings.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const last = ordered.at(-1);
  const counted = ordered.findLast(({ isUncounted }) => isUncounted !== true);
  if (!last) {
    const decisions = [...STANDS[kept.status], ...absence];
    return { decisions, stopped_by: decisions.find(stops) ?? null };
  }
  const told = ordered.flatMap(({ entries }) => entries);
  const isTold = [counted, last].some((coming) =>
    coming?.entries.some(({ decision }) => decision.startsWith('automation_')),
  );
  return {
    decisions: isTold ? told : [...told, ...STANDS[kept.status]],
    stopped_by: (counted && findStop(counted.entries)) ?? findStop(last.entries),
  };
};

const listKnown = (runs: readonly ShownRun[], refusals: readonly RefusedRow[]): Set<string> =>
  new Set([
    ...runs.flatMap((run) => run.trigger_event_id ?? String(run.trigger_entry ?? run.run_id)),
    ...refusals.map(({ event_id, entry }) => event_id ?? String(entry)),
  ]);

/**
 * Why somebody was, or was not, sent what an automation sends: every decision, and what stopped them the last time
 * that they came. Tests of it are told only when one is asked for.
 */
export const explain = async (
  scope: Scope,
  kept: Kept,
  { profileId, runId }: { profileId: string; runId?: string | undefined },
): Promise<z.output<typeof Explanation>> => {
  const { automation_id: automationId, latest_version, active_version } = kept;
  const members = await profiles.listMembers(scope, [profileId]);
  const definition = await findVersion(scope, automationId, active_version ?? latest_version);
  const asked = { scope, kept, profileId, members, definition };
  const identityIds = members.map(({ identity_id }) => identity_id);
  const of = { automation_id: automationId, profile_id: profileId };
  if (runId !== undefined) {
    const run = await findRunById(scope, runId);
    const isTheirs = run?.automation_id === automationId && identityIds.includes(run.identity_id);
    if (!isTheirs) throw new Refusal('not_found', { detail: 'There is no such run of theirs.' });
    const [coming] = await explainRuns(asked, [run]);
    const decisions = coming?.entries ?? [];
    return { ...of, decisions, stopped_by: coming ? findStop(coming.entries) : null };
  }
  const page = { limit: EXPLAINED_RUNS_MAX, beforeId: null, automationId, isTest: false };
  const runs = await listRunsFor(scope, identityIds, page);
  const refusals = await listRefusals(scope, automationId, identityIds);
  const last = await explainTrigger(asked, listKnown(runs, refusals));
  const comings = [
    ...(await explainRuns(asked, runs)),
    ...refusals.map((one) => toComing(one, asked.definition)),
    ...last.comings,
  ];
  return { ...of, ...inOrder(kept, { comings, absence: last.absence }) };
};
