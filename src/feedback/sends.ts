import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import type { EmailService, SentTo, Trace } from '../delivery/delivery.ts';
import * as suppression from '../suppression/suppression.ts';
import type { Notice } from './notice.ts';

/** Returns the id of the send that an event names, itself or by a Message-ID of ours; null where it names none. */
export const sendIdOf = ({
  sendId,
  messageIds,
}: Pick<Notice, 'sendId' | 'messageIds'>): string | null =>
  sendId ?? messageIds.map(delivery.readMessageId).find((read) => read !== null)?.sendId ?? null;

/** Returns what an event says about its send. */
export const traceOf = (scope: Scope, notice: Notice): Trace => {
  const { email, messageIds, occurredAt } = notice;
  const addressKey = suppression.addressKey(scope, email);
  return { sendId: sendIdOf(notice), messageIds, addressKey, occurredAt };
};

/** Whether a notice is about a test email that this project sent to its recipient through one of some services. */
export const isAboutTest = (
  scope: Scope,
  notice: Notice,
  services: readonly EmailService[] = delivery.EMAIL_SERVICES,
): boolean => {
  const sendId = sendIdOf(notice);
  const { projectId, keys } = scope;
  const to = notice.email;
  return (
    sendId !== null &&
    services.some((service) => delivery.isTestEmail(keys, { projectId, to, service }, sendId))
  );
};

/**
 * Returns the send that each notice is about, or null, in the order of the notices. A test email has no send: the
 * newest send to its address is another email.
 */
export const findSends = async (
  scope: Scope,
  notices: readonly Notice[],
): Promise<(SentTo | null)[]> => {
  const traces = notices.map((notice) => traceOf(scope, notice));
  const sends = await delivery.findSentTo(scope, traces);
  return traces.map(({ addressKey }, nth) => {
    const notice = notices[nth];
    const send = notice && isAboutTest(scope, notice) ? null : (sends[nth] ?? null);
    // A notice about another address than the send's was forwarded, or is not about that send. An erased send has no
    // address any more.
    const isOfSend = send !== null && (send.address_key?.equals(addressKey) ?? true);
    return isOfSend ? send : null;
  });
};
