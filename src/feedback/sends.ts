import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import type { SentTo, Trace } from '../delivery/delivery.ts';
import * as suppression from '../suppression/suppression.ts';
import type { Notice } from './notice.ts';

/** Returns what a notice says about its send. A Message-ID of ours says the send's id. */
export const traceOf = (scope: Scope, { email, sendId, messageIds, occurredAt }: Notice): Trace => {
  const ours = messageIds.map(delivery.readMessageId).find((read) => read !== null);
  const addressKey = suppression.addressKey(scope, email);
  return { sendId: sendId ?? ours?.sendId ?? null, messageIds, addressKey, occurredAt };
};

/** Returns the send that each notice is about, or null, in the order of the notices. */
export const findSends = async (
  scope: Scope,
  notices: readonly Notice[],
): Promise<(SentTo | null)[]> => {
  const traces = notices.map((notice) => traceOf(scope, notice));
  const sends = await delivery.findSentTo(scope, traces);
  return traces.map(({ addressKey }, nth) => {
    const send = sends[nth] ?? null;
    // A notice about another address than the send's was forwarded, or is not about that send. An erased send has no
    // address any more.
    const isOfSend = send !== null && (send.address_key?.equals(addressKey) ?? true);
    return isOfSend ? send : null;
  });
};
