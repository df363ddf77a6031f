import { z } from 'zod';
import type { Scope } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { readCursor, toPage } from '../../base/page.ts';
import type { PageQuery } from '../../base/page.ts';
import { Refusal } from '../../base/refusal.ts';
import { makeHourlyCount } from '../hourly_count.ts';
import type { ProviderRow } from '../queries.ts';
import type { DomainHealth } from './check.ts';
import { findCheck, listChanges } from './queries.ts';
import type { ChangeRow } from './queries.ts';
import { checkNow, findStored, baselineOf, recordCheck } from './record.ts';
import type { DomainCheckInput, DomainHealthAnswer, DomainQuery } from './schema.ts';

// What people with a server key or the Console do about a sender's domain.

/** How many checks a project may ask for, in each process: each sends DNS queries about names of its choice. */
export const DOMAIN_CHECKS_PER_HOUR = 120;

type ProjectContext = { deps: Deps; projectId: string };

const countCheck = makeHourlyCount({
  most: DOMAIN_CHECKS_PER_HOUR,
  says: `The domains of a project are checked ${DOMAIN_CHECKS_PER_HOUR} times an hour at most.`,
});

const toAnswer = (health: DomainHealth, checkedAt: Date): DomainHealthAnswer => ({
  ...health,
  checked_at: checkedAt.toISOString(),
});

/** Returns what receivers find out about a provider's domain now. Keeps nothing. */
export const readDomainHealth = async (
  where: ProjectContext,
  row: ProviderRow,
  query: z.output<typeof DomainQuery>,
): Promise<DomainHealthAnswer> => {
  await countCheck(where.deps, where.projectId);
  const stored = await findStored(where, row.provider_id);
  const sought = {
    selectors: query.dkim_selectors ?? stored?.dkim_selectors ?? [],
    mailFromDomain: query.mail_from_domain ?? stored?.mail_from_domain ?? null,
  };
  const known = query.dkim_selectors ? null : baselineOf(stored, row);
  const health = await checkNow(where.deps, row, sought, known);
  return toAnswer(health, new Date());
};

/** Checks a provider's domain, and records what was found and what to look for. Repeatable with one `checkId`. */
export const recordDomainHealth = async (
  where: ProjectContext,
  row: ProviderRow,
  checkId: string,
  { dkim_selectors, mail_from_domain }: DomainCheckInput,
): Promise<DomainHealthAnswer> => {
  await countCheck(where.deps, where.projectId);
  const recorded = await recordCheck(where, row, checkId, {
    ...(dkim_selectors ? { selectors: dkim_selectors } : {}),
    ...(mail_from_domain === undefined ? {} : { mailFromDomain: mail_from_domain }),
  });
  if (!recorded) throw new Refusal('not_found', { detail: 'There is no such provider.' });
  return toAnswer(recorded.health, recorded.checkedAt);
};

/** Returns what is stored of a provider's checks: what they look for, and what the last one found. */
export const readStoredHealth = async (scope: Scope, providerId: string) => {
  const stored = await findCheck(scope, providerId);
  return {
    dkim_selectors: stored?.dkim_selectors ?? [],
    mail_from_domain: stored?.mail_from_domain ?? null,
    next_check_at: stored?.next_check_at.toISOString() ?? null,
    health: stored?.health && stored.checked_at ? toAnswer(stored.health, stored.checked_at) : null,
  };
};

const toItem = ({ change_id, changed_at, ...change }: ChangeRow) => ({
  id: change_id,
  changed_at: changed_at.toISOString(),
  ...change,
});

/** Returns one page of what has changed about a provider's domain, the newest first. */
export const pageChanges = async (scope: Scope, providerId: string, query: PageQuery) => {
  const beforeId = readCursor(z.tuple([z.uuid()]), query.cursor)?.[0] ?? null;
  const rows = await listChanges(scope, providerId, { limit: query.limit + 1, beforeId });
  return toPage(rows, query.limit, { item: toItem, position: ({ change_id }) => [change_id] });
};
