import * as alerts from '../../alerts/alerts.ts';
import type { Scope } from '../../base/db.ts';
import type { Logger } from '../../base/log.ts';
import type { ProviderRow } from '../queries.ts';
import type { Comparison } from './history.ts';

/** What a check of a sender's domain found, compared with what was known. */
export type DomainReport = { row: ProviderRow; domain: string; comparison: Comparison };

const FIX =
  'Open the domain health of this provider. It shows each record that changed and the value to publish. ' +
  'The alert resolves with the first check that finds everything as good as before.';

/**
 * Opens the alert that the health of a sender's domain got worse, or resolves it once every finding is as good as
 * before. Runs in the transaction that records the check, under its lock.
 */
export const alertOwner = async (
  log: Logger,
  scope: Scope,
  { row, domain, comparison: { worse, known } }: DomainReport,
): Promise<void> => {
  const { projectId: project_id } = scope;
  const { provider_id } = row;
  const findings = Object.keys(known.fallen).toSorted();
  if (findings.length === 0) {
    const resolved = await alerts.resolveAlert(scope, provider_id, 'domain_worse');
    if (resolved > 0) log.info({ project_id, provider_id }, 'domain health as before');
    return;
  }
  if (worse.length === 0) return;
  log.warn({ project_id, provider_id, findings: worse }, 'domain health worse');
  const said = findings.map((name) => known.findings[name]?.summary ?? name);
  await alerts.openAlert(scope, {
    kind: 'domain_worse',
    subject: provider_id,
    subjectName: row.display_name,
    summary: `The records of ${domain} are worse than before. ${said.join(' ')}`,
    fix: FIX,
    details: { findings },
  });
};
