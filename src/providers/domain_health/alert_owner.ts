import type { Scope } from '../../base/db.ts';
import type { Logger } from '../../base/log.ts';

/** What the owner of a project is to know about a sender's domain. */
export type DomainAlert = {
  kind: 'raise' | 'clear';
  providerId: string;
  domain: string;
  /** The findings that got worse, by name, with what was found. */
  worse: { finding: string; summary: string }[];
};

/**
 * Raises the alert that the health of a sender's domain got worse, or clears it once everything is as good as before.
 * Runs in the transaction that records the change, so it is safe to repeat.
 */
export const alertOwner = (
  log: Logger,
  { projectId }: Pick<Scope, 'projectId'>,
  { kind, providerId, worse }: DomainAlert,
): Promise<void> => {
  const about = { project_id: projectId, provider_id: providerId };
  if (kind === 'raise')
    log.warn({ ...about, findings: worse.map(({ finding }) => finding) }, 'domain health worse');
  else log.info(about, 'domain health as before');
  return Promise.resolve();
};
