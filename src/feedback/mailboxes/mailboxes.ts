import type pg from 'pg';
import type { Deps } from '../../base/deps.ts';
import { lookAtSending } from '../../base/sending.ts';
import { makeReaders, WAITING_MAX } from './readers.ts';

export { takeEmail } from './take_email.ts';

type DueRow = { project_id: string; provider_id: string };

/** The mailboxes of all projects that are due, the longest waiting first. The role of the queue sees ids only. */
const listDue = async (jobs: Pick<pg.Pool, 'query'>): Promise<DueRow[]> => {
  const { rows } = await jobs.query<DueRow>(
    `select project_id, provider_id from providers.bounce_mailboxes
    where status = 'active' and next_read_at <= now()
    order by next_read_at limit $1`,
    [WAITING_MAX],
  );
  return rows;
};

/**
 * Begins to read the bounce mailboxes that are due, beside the job. Returns how many. After a restore nothing is read
 * until sending goes on: the original installation may read the same mailboxes.
 */
export const readBounceMailboxes = async (
  deps: Deps,
  jobs: Pick<pg.Pool, 'query'>,
): Promise<number> => {
  if (await lookAtSending(deps)) return 0;
  const due = await listDue(jobs);
  const mailboxes = due.map(({ project_id: projectId, provider_id: providerId }) => ({
    projectId,
    providerId,
  }));
  deps.resources.of(makeReaders, deps).feed(mailboxes);
  return mailboxes.length;
};
