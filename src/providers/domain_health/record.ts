import { inProject } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { newId } from '../../base/ids.ts';
import { nameServersOf } from '../../base/resolve_host.ts';
import type { ProviderRow } from '../queries.ts';
import { alertOwner } from './alert_owner.ts';
import { checkDomain } from './check.ts';
import type { DomainHealth } from './check.ts';
import { compare, findingsOf, selectorsOf, UNANSWERED_CHECKS_MAX } from './history.ts';
import type { Comparison, Baseline } from './history.ts';
import {
  findCheck,
  lockCheck,
  lockProvider,
  insertChange,
  insertCheck,
  pruneChanges,
  updateCheck,
} from './queries.ts';
import type { CheckRow } from './queries.ts';
import { factsOf } from './email_services.ts';

/** How many changes of a provider's domain are kept, and for how long. */
export const HISTORY_CHANGES_MAX = 200;
export const HISTORY_DAYS = 400;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Checks of one day drift apart by so much, so that many that started together do not stay together. */
const DRIFT_MS = HOUR_MS;

/** What a check looks for. */
export type CheckTarget = { selectors: string[]; mailFromDomain: string | null };

type ProjectContext = { deps: Deps; projectId: string };

/** Returns what is stored of a provider's checks; null before the first. */
export const findStored = ({ deps, projectId }: ProjectContext, providerId: string) =>
  inProject(deps, projectId, (scope) => findCheck(scope, providerId));

/** Checks the domain of a provider now, and keeps nothing. */
export const checkNow = (
  deps: Deps,
  row: ProviderRow,
  { selectors, mailFromDomain }: CheckTarget,
  known: Baseline | null = null,
): Promise<DomainHealth> =>
  checkDomain(nameServersOf(deps), {
    fromEmail: row.from_email,
    replyTo: row.reply_to,
    service: factsOf(row),
    selectors,
    knownSelectors: known ? selectorsOf(known) : [],
    mailFromDomain,
  });

const targetOf = (stored: CheckRow | null, change: Partial<CheckTarget>): CheckTarget => ({
  selectors: change.selectors ?? stored?.dkim_selectors ?? [],
  mailFromDomain:
    change.mailFromDomain === undefined
      ? (stored?.mail_from_domain ?? null)
      : change.mailFromDomain,
});

/** What is known of a domain; null where the provider has another domain by now, or none was checked. */
export const baselineOf = (stored: CheckRow | null, row: ProviderRow): Baseline | null =>
  stored?.known && isOfDomain(stored, row)
    ? {
        findings: stored.known,
        fallen: stored.fallen,
        unansweredCount: stored.unanswered_count,
      }
    : null;

const isOfDomain = ({ health }: CheckRow, { from_email }: ProviderRow): boolean =>
  health !== null && from_email.toLowerCase().endsWith(`@${health.domain}`);

export type RecordedCheck = { health: DomainHealth; checkedAt: Date };

/**
 * Checks the domain of a provider and records what was found: what has changed is added to the history, and what got
 * worse alerts the owner. The same `checkId` again returns what it recorded. Null where the provider is gone.
 */
export const recordCheck = async (
  where: ProjectContext,
  row: ProviderRow,
  checkId: string,
  change: Partial<CheckTarget> = {},
): Promise<RecordedCheck | null> => {
  const stored = await findStored(where, row.provider_id);
  const done = stored && doneBy(stored, checkId);
  if (done) return done;
  const sought = targetOf(stored, change);
  // New selectors take the place of what an earlier check found by trying.
  const known = change.selectors ? null : baselineOf(stored, row);
  const health = await checkNow(where.deps, row, sought, known);
  return inProject(where.deps, where.projectId, async (scope) => {
    if (!(await lockProvider(scope, row.provider_id))) return null;
    await insertCheck(scope, row.provider_id);
    const locked = await lockCheck(scope, row.provider_id);
    const already = doneBy(locked, checkId);
    if (already) return already;
    const comparison = compare(baselineOf(locked, row), findingsOf(health));
    await storeResult(scope, row.provider_id, {
      checkId,
      at: locked.now,
      sought: targetOf(locked, change),
      health,
      comparison,
    });
    await alertOwner(where.deps.log, scope, { row, domain: health.domain, comparison });
    return { health, checkedAt: locked.now };
  });
};

const doneBy = (
  { check_id, health, checked_at }: CheckRow,
  checkId: string,
): RecordedCheck | null =>
  check_id === checkId && health && checked_at ? { health, checkedAt: checked_at } : null;

type CheckResult = {
  checkId: string;
  at: Date;
  sought: CheckTarget;
  health: DomainHealth;
  comparison: Comparison;
};

const storeResult = async (
  scope: Scope,
  providerId: string,
  { checkId, at, sought, health, comparison }: CheckResult,
): Promise<void> => {
  const { known, changes, worse } = comparison;
  await updateCheck(scope, providerId, {
    dkim_selectors: sought.selectors,
    mail_from_domain: sought.mailFromDomain,
    check_id: checkId,
    checked_at: at,
    next_check_at: nextAfter(at, known.unansweredCount),
    health,
    known: known.findings,
    fallen: known.fallen,
    unanswered_count: known.unansweredCount,
  });
  if (changes.length === 0) return;
  await insertChange(scope, providerId, {
    change_id: newId(),
    changed_at: at,
    domain: health.domain,
    status: health.status,
    is_worse: worse.length > 0,
    changes,
  });
  const before = new Date(at.getTime() - HISTORY_DAYS * DAY_MS);
  await pruneChanges(scope, providerId, { before, most: HISTORY_CHANGES_MAX });
};

/** A day later; sooner where name servers did not answer, a few times. */
const nextAfter = (at: Date, unansweredCount: number): Date => {
  const isRetried = unansweredCount > 0 && unansweredCount < UNANSWERED_CHECKS_MAX;
  const wait = isRetried ? HOUR_MS : DAY_MS - DRIFT_MS / 2 + Math.random() * DRIFT_MS;
  return new Date(at.getTime() + wait);
};
