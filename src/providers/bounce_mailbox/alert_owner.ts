import * as alerts from '../../alerts/alerts.ts';
import type { Scope } from '../../base/db.ts';
import { explanations, isExplained } from '../failures.ts';
import { findProvider } from '../queries.ts';
import type { MailboxRow } from './queries.ts';

/** After so many failures in a row the owner is alerted to a failure that may pass by itself. */
export const ALERTED_FAILURES_MIN = 3;

/** Failures of the network and of the server: the next turn may succeed. Any other one needs a person. */
const PASSING: readonly string[] = ['bounce_mailbox_unreachable', 'bounce_mailbox_unusable'];

type Failing = Pick<MailboxRow, 'failure' | 'failure_count'>;

/** Resolves the alert that a bounce mailbox cannot be read. */
export const resolveMailbox = (scope: Scope, providerId: string): Promise<number> =>
  alerts.resolveAlert(scope, providerId, 'mailbox_failing');

/**
 * Opens the alert that a bounce mailbox cannot be read, or resolves it where the last reading succeeded. The
 * transaction has written the state of the mailbox, and holds its row.
 */
export const alertMailbox = async (
  scope: Scope,
  providerId: string,
  { failure, failure_count }: Failing,
): Promise<void> => {
  if (failure === null) {
    await resolveMailbox(scope, providerId);
    return;
  }
  if (!isExplained(failure)) return;
  if (PASSING.includes(failure) && failure_count < ALERTED_FAILURES_MIN) return;
  const row = await findProvider(scope, providerId);
  if (!row) return;
  const { cause, fix } = explanations[failure];
  await alerts.openAlert(scope, {
    kind: 'mailbox_failing',
    subject: providerId,
    subjectName: row.display_name,
    summary: `Trunkline cannot read the bounce mailbox of ${row.display_name} (${row.from_email}). ${cause}`,
    fix,
    details: { reason: failure },
  });
};
