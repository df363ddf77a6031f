import type { Scope } from '../base/db.ts';
import * as profiles from '../profiles/profiles.ts';
import * as segments from '../segments/segments.ts';
import { findFailing } from './comparison.ts';
import { listLogs } from './erase_queries.ts';
import { findNewestEvent, listRefusals, listSendsOf } from './explain_queries.ts';
import type { SentRow } from './explain_queries.ts';
import { isDecided, limitedAs, stops, toEntry } from './explanation.ts';
import type { Decided, Entry, Explanation } from './explanation.ts';
import type { Doors } from './life.ts';
import { findVersion } from './queries.ts';
import type { Kept } from './queries.ts';
import type { Definition } from './schema.ts';
import { findAfterEntry } from './segment_queries.ts';
import { listRunsFor } from './shown_queries.ts';
import type { ShownRun } from './shown_queries.ts';
import { isLate } from './triggers.ts';
import type { z } from 'zod';

/** How many runs of one person one answer tells of, the newest. */
export const EXPLAINED_RUNS_MAX = 20;
/** How far back the trigger event is looked for. */
const LOOK_BACK_DAYS = 400;
const DAY_MS = 86_400_000;

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

const findTriggerEvent = async ({ scope, members }: Asked, name: string) => {
  const since = new Date(Date.now() - LOOK_BACK_DAYS * DAY_MS);
  const found = [];
  for (const member of members) {
    const event = await findNewestEvent(scope, member, { name, since });
    if (event) found.push(event);
  }
  return found.toSorted((a, b) => b.occurred_at.getTime() - a.occurred_at.getTime())[0] ?? null;
};

type OfSegment = Extract<Definition['trigger'], { segment_id: string }>;

/** Why coming into a segment, or going, started nothing: nobody did, or not so that it counts. */
const explainEntries = async (asked: Asked, trigger: OfSegment): Promise<Entry[]> => {
  const { scope, kept, profileId } = asked;
  const { segment_id: segmentId, kind } = trigger;
  const change = kind === 'segment_entered' ? ('entered' as const) : ('left' as const);
  const told = await segments.findLastEntry(scope, { segmentId, profileId, change });
  const detail = { segment_id: segmentId };
  if (told === null) return [toEntry(`not_${change}`, { detail })];
  const about = { at: told.changed_at, detail: { ...detail, entry: String(told.entry) } };
  if (told.cause === 'fill') return [toEntry('found_by_fill', about)];
  const after = await findAfterEntry(scope, kept.automation_id);
  const isAwaited = after !== null && told.entry > after;
  return [toEntry(isAwaited ? 'not_read_yet' : 'not_active_then', about)];
};

/** Why nobody's run began: what of trigger, filters, lateness and re-entry said no. */
const explainTrigger = async (asked: Asked, known: ReadonlySet<string>): Promise<Entry[]> => {
  const { definition } = asked;
  if (definition === null) return [];
  const { trigger, settings } = definition;
  if (trigger.kind === 'manual') return known.size > 0 ? [] : [toEntry('not_started')];
  if (trigger.kind !== 'event') return known.size > 0 ? [] : explainEntries(asked, trigger);
  const event = await findTriggerEvent(asked, trigger.event);
  if (event === null)
    return known.size > 0 ? [] : [toEntry('not_triggered', { detail: { event: trigger.event } })];
  if (known.has(event.event_id)) return [];
  const about = { at: event.occurred_at };
  const detail = { event_id: event.event_id };
  const failing = findFailing(trigger.filters, event.properties);
  if (failing) {
    const filter = { property: failing.property, is: failing.is };
    return [toEntry('filter', { ...about, detail: { ...detail, ...filter } })];
  }
  if (isLate(event, settings.late_events)) return [toEntry('late', { ...about, detail })];
  return known.size > 0 ? [] : [toEntry('not_active_then', { ...about, detail })];
};

const UNSUBSCRIBED = 'unsubscribed';

/** What has become of a send by now. */
const standOf = async (scope: Scope, sent: SentRow, doors: Doors): Promise<Decided> => {
  if (sent.complained_at) return 'send_complained';
  if (sent.bounced_at) return 'send_bounced';
  if (sent.delivered_at) return 'send_delivered';
  if (sent.status === 'suppressed' && sent.status_reason === UNSUBSCRIBED)
    return 'send_unsubscribed';
  if (sent.status === 'queued' && !(await doors.isProviderReady(scope, sent.provider_id)))
    return 'provider_parked';
  const limited = limitedAs(sent.status, sent.status_reason);
  if (limited) return limited;
  const named = `send_${sent.status}`;
  return isDecided(named) ? named : 'send_not_sent';
};

type Logs = Awaited<ReturnType<typeof listLogs>>;

const endOf = ({ status, outcome, ended_at: at, run_id: runId }: ShownRun): Entry[] => {
  if (status === 'paused') return [toEntry('run_frozen', { runId })];
  return outcome === 'archived' || outcome === 'erased' || outcome === 'went_in_circles'
    ? [toEntry(outcome, { at, runId })]
    : [];
};

const explainRun = async (
  { scope }: Asked,
  run: ShownRun,
  { logs, sends }: { logs: Logs; sends: ReadonlyMap<string, SentRow> },
  doors: Doors,
): Promise<Entry[]> => {
  const { run_id: runId } = run;
  const entries = [toEntry('entered', { at: run.started_at, runId })];
  for (const { run_id, step_id: stepId, decision, detail, decided_at: at } of logs) {
    if (run_id !== runId || !isDecided(decision)) continue;
    const told = Object.fromEntries(
      Object.entries(detail).filter((one): one is [string, string] => typeof one[1] === 'string'),
    );
    const sent = sends.get(told['send_id'] ?? '');
    const now = sent ? await standOf(scope, sent, doors) : decision;
    const reason = sent?.status_reason ? { reason: sent.status_reason } : {};
    entries.push(toEntry(now, { at, runId, stepId, detail: { ...told, ...reason } }));
  }
  return [...entries, ...endOf(run)];
};

const explainRuns = async (
  asked: Asked,
  runs: readonly ShownRun[],
  doors: Doors,
): Promise<Entry[]> => {
  const runIds = runs.map(({ run_id }) => run_id);
  const logs = await listLogs(asked.scope, runIds);
  const rows = await listSendsOf(asked.scope, runIds);
  const sends = new Map(rows.map((row) => [row.send_id, row]));
  const entries: Entry[] = [];
  for (const run of runs.toReversed())
    entries.push(...(await explainRun(asked, run, { logs, sends }, doors)));
  return entries;
};

/** Why somebody was, or was not, sent what an automation sends: every decision, and the first that stopped it. */
export const explain = async (
  scope: Scope,
  kept: Kept,
  profileId: string,
  doors: Doors,
): Promise<z.output<typeof Explanation>> => {
  const { automation_id: automationId, latest_version, active_version } = kept;
  const members = await profiles.listMembers(scope, [profileId]);
  const definition = await findVersion(scope, automationId, active_version ?? latest_version);
  const asked = { scope, kept, profileId, members, definition };
  const identityIds = members.map(({ identity_id }) => identity_id);
  const page = { limit: EXPLAINED_RUNS_MAX, beforeId: null, automationId };
  const runs = await listRunsFor(scope, identityIds, page);
  const refusals = await listRefusals(scope, automationId, identityIds);
  const known = new Set([
    ...runs.map(({ trigger_event_id, run_id }) => trigger_event_id ?? run_id),
    ...refusals.map(({ event_id, entry }) => event_id ?? String(entry)),
  ]);
  const decisions = [
    ...(runs.length > 0 ? [] : STANDS[kept.status]),
    ...(await explainRuns(asked, runs, doors)),
    ...(await explainTrigger(asked, known)),
    ...refusals.map(({ reason, event_id, entry, refused_at: at }) =>
      toEntry(reason, { at, detail: event_id ? { event_id } : { entry: String(entry) } }),
    ),
    ...(runs.length > 0 ? STANDS[kept.status] : []),
  ];
  const stopped_by = decisions.find(stops) ?? null;
  return { automation_id: automationId, profile_id: profileId, decisions, stopped_by };
};
