import { inProject } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { metricsOf } from '../../base/metrics.ts';
import * as ingest from '../../ingest/ingest.ts';
import { sanitizeReply } from '../../providers/providers.ts';
import type { WhichMailbox } from '../../providers/providers.ts';
import { readBounceEmail } from '../bounce_email/bounce_email.ts';
import type { Report } from '../bounce_email/bounce_email.ts';
import { judgeReport } from '../bounce_email/judge.ts';
import { hashOf } from '../dialects/event_key.ts';
import { readReason, readTime } from '../dialects/reading.ts';
import { record } from '../record.ts';
import type { Recorded } from '../record.ts';
import type { Notice } from '../notice.ts';
import { mailboxOf } from '../teller.ts';
import { matchReport } from './match.ts';

/** What the other host said, fit to be shown: its codes and its text, without secrets and other addresses. */
const toReason = (diagnostic: string | null, to: string): string | null => {
  if (diagnostic === null) return null;
  const { code, enhanced, text } = sanitizeReply({ reply: diagnostic, to });
  return readReason(
    [code, enhanced, text].filter((part) => part !== null && part !== '').join(' '),
  );
};

/** Returns what a report says about an email of this provider; null for a report about any other. */
const toNotice = async (
  scope: Scope,
  providerId: string,
  report: Report,
): Promise<Notice | null> => {
  const matched = await matchReport(scope, providerId, report);
  const judged = matched && judgeReport(report, matched.to);
  if (!judged) return null;
  const { diagnostic, ...says } = judged;
  return {
    ...says,
    email: matched.to,
    occurredAt: readTime(report.time, new Date()),
    sendId: matched.sendId,
    messageIds: [],
    reason: toReason(diagnostic, matched.to),
    isTest: false,
    // One event, however often a server repeats the report, and whatever it adds to its headers on the way.
    dedupeKey: hashOf([matched.sendId, says.kind, says.bounceType]),
  };
};

const measure = (deps: Deps, { accepted, duplicates, ignored }: Recorded): void => {
  const metrics = metricsOf(deps);
  for (const [result, count] of Object.entries({ accepted, duplicates, ignored }))
    metrics.notices.inc({ source: 'bounce_mailbox', result }, count);
};

/**
 * Takes the effect of one email of a bounce mailbox, in one transaction. Returns whether Trunkline has used it: it was
 * a report about an email of this provider, or an automatic reply. Safe to repeat: the same report counts once.
 */
export const takeEmail = async (
  deps: Deps,
  { projectId, providerId }: WhichMailbox,
  raw: Buffer,
): Promise<boolean> => {
  const email = await readBounceEmail(raw);
  if (email.kind !== 'report') return email.kind === 'automatic';
  const recorded = await inProject(deps, projectId, async (scope) => {
    const notice = await toNotice(scope, providerId, email.report);
    return notice && record(scope, mailboxOf(providerId), [notice]);
  });
  if (!recorded) return false;
  if (recorded.accepted > 0) ingest.wake(deps, projectId);
  measure(deps, recorded);
  return true;
};
