import type { Scope } from '../base/db.ts';
import * as suppression from '../suppression/suppression.ts';
import type { Notice } from './notice.ts';
import { saidBy } from './teller.ts';
import { findTooManySoft, hasSoftBounces, readSoftBouncesMax } from './soft_queries.ts';

/** Whether a notice has a say in how often in a row mail to an address has bounced softly. */
export const countsAsSoft = ({ kind, bounceType }: Notice): boolean =>
  kind === 'delivered' || (kind === 'bounced' && bounceType === 'soft');

/**
 * Gives an address up that has bounced softly too often in a row, or takes that back. Judged by all that is
 * known, in the order in which it happened, so that the order in which we are told does not matter. Refusals of
 * the sender or the content do not count: they would give up everybody at once.
 */
export const judgeSoftBounces = async (scope: Scope, email: string): Promise<void> => {
  const addressKey = suppression.addressKey(scope, email);
  const inARowMax = await readSoftBouncesMax(scope);
  if (!(await hasSoftBounces(scope, addressKey, inARowMax))) return;
  const tooMany = await findTooManySoft(scope, addressKey, inARowMax);
  await suppression.suppressSoftBounced(scope, {
    email,
    source: saidBy(tooMany?.source ?? '', { sendId: tooMany?.send_id ?? null }),
    since: tooMany?.since ?? null,
  });
};
