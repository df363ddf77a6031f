import type { Scope } from '../base/db.ts';
import * as suppression from '../suppression/suppression.ts';
import type { Notice } from './notice.ts';
import { saidBy } from './teller.ts';
import { listSoftBounced, listTooManySoft, readSoftBouncesMax } from './soft_queries.ts';

/** How many addresses one statement counts: each may have a long past. */
export const JUDGED_AT_ONCE_MAX = 50;

/** Whether a notice has a say in how often in a row mail to an address has bounced softly. */
export const countsAsSoft = ({ kind, bounceType }: Notice): boolean =>
  kind === 'delivered' || (kind === 'bounced' && bounceType === 'soft');

const judge = async (scope: Scope, emails: readonly string[], inARowMax: number) => {
  const keyOf = (email: string) => suppression.addressKey(scope, email);
  const keys = (rows: readonly { address_key: Buffer }[]) =>
    new Set(rows.map(({ address_key }) => address_key.toString('hex')));
  const bounced = keys(await listSoftBounced(scope, emails.map(keyOf), inARowMax));
  const judged = emails.filter((email) => bounced.has(keyOf(email).toString('hex')));
  if (judged.length === 0) return;
  const tooMany = await listTooManySoft(scope, judged.map(keyOf), inARowMax);
  const told = judged.map((email) => {
    const found = tooMany.find(({ address_key }) => address_key.equals(keyOf(email)));
    const source = saidBy(found?.source ?? '', { sendId: found?.send_id ?? null });
    return { email, source, since: found?.since ?? null };
  });
  await suppression.suppressSoftBounced(scope, told);
};

/**
 * Gives addresses up that have bounced softly too often in a row, or takes that back. Judged by all that is
 * known, in the order in which it happened, so that the order in which we are told does not matter. Refusals of
 * the sender or the content do not count: they would give up everybody at once.
 */
export const judgeSoftBounces = async (scope: Scope, emails: readonly string[]): Promise<void> => {
  const told = [...new Set(emails)];
  if (told.length === 0) return;
  const inARowMax = await readSoftBouncesMax(scope);
  for (let from = 0; from < told.length; from += JUDGED_AT_ONCE_MAX)
    await judge(scope, told.slice(from, from + JUDGED_AT_ONCE_MAX), inARowMax);
};
