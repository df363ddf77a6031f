import { judgeBounce } from '../diagnostic.ts';
import { meaning } from '../notice.ts';
import type { Meaning } from '../notice.ts';
import type { Report, ReportedRecipient } from './report.ts';

/** What a report says about the recipient of one email. */
export type Judged = Meaning & { diagnostic: string | null };

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** The strongest first: of several that one report says about a recipient, this counts. */
const STRENGTH: readonly ReportedRecipient['kind'][] = [
  'complained',
  'bounced',
  'unsubscribed',
  'deferred',
  'delivered',
  'accepted',
  'not_spam',
];

const strongest = (those: readonly ReportedRecipient[]): ReportedRecipient | undefined =>
  those.toSorted((a, b) => STRENGTH.indexOf(a.kind) - STRENGTH.indexOf(b.kind))[0];

/**
 * Returns what a report says about the recipient of the email that it is about; null where it says nothing. Where it
 * names other addresses alone, the recipient's mailbox passed the email on: that mailbox exists, so no bounce of
 * another address makes it hard, and a delivery there says nothing.
 */
export const judgeReport = ({ recipients }: Report, to: string): Judged | null => {
  const own = strongest(
    recipients.filter(
      ({ addresses }) => addresses.length === 0 || addresses.some((one) => isSame(one, to)),
    ),
  );
  const found = own ?? strongest(recipients.filter(({ kind }) => kind !== 'delivered'));
  if (!found) return null;
  const { kind, diagnostic } = found;
  if (kind === 'deferred') return { ...meaning(kind, 'soft'), diagnostic };
  if (kind !== 'bounced') return { ...meaning(kind), diagnostic };
  const type = judgeBounce(null, diagnostic, { to });
  const isOfOther = own === undefined || own.isForwarded;
  return { ...meaning(kind, type === 'hard' && isOfOther ? 'soft' : type), diagnostic };
};
