import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';

/** What an explanation says of an email that another spelling of its recipient's mailbox stopped. */
const SAYS: Record<string, string> = {
  suppressed: 'Another spelling of this mailbox is on the suppression list.',
  unsubscribed: 'Another spelling of this mailbox unsubscribed from marketing email.',
};

const FIX =
  'A suppression or an unsubscribe of one spelling stops browser-triggered email to all of them. Send the trigger ' +
  'event with a server key, or lift that suppression or unsubscribe.';

/** The sentence and the details that name the other spelling. */
export type OtherSpelling = { says: string; detail: { fix: string; spelling?: string } };

/**
 * Returns what to say where another spelling of the recipient's mailbox stops a send; null where none does. An erased
 * address is not named.
 */
export const findOtherSpelling = async (
  scope: Scope,
  sendId: string,
  { status, reason }: { status: string; reason: string | null },
): Promise<OtherSpelling | null> => {
  const says = SAYS[reason ?? ''];
  if (status !== 'suppressed' || says === undefined) return null;
  const stopping = await delivery.findStoppingSpelling(scope, sendId);
  if (!stopping) return null;
  const { email } = stopping;
  return { says, detail: { fix: FIX, ...(email === null ? {} : { spelling: email }) } };
};

type Entry = { says: string; detail: Record<string, string> };

/** Returns an entry of an explanation that names the other spelling, where there is one. */
export const withSpelling = <E extends Entry>(entry: E, other: OtherSpelling | null): E =>
  other === null
    ? entry
    : { ...entry, says: other.says, detail: { ...entry.detail, ...other.detail } };
