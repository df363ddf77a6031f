import type { Scope } from '../../base/db.ts';
import * as delivery from '../../delivery/delivery.ts';
import { readEnvelopeSender } from '../../providers/providers.ts';
import type { Report } from '../bounce_email/bounce_email.ts';

/** The email that a report is about, as far as that is proven. */
export type Matched = { sendId: string; to: string };

/** No address: the email is found by its ids or not at all. */
const NO_ADDRESS = Buffer.alloc(0);

/** Returns the send id that a report claims: by the token of its envelope sender, else by what it returns. */
const claimedBy = (scope: Scope, providerId: string, report: Report): string | null => {
  const owner = { projectId: scope.projectId, providerId };
  const ours = report.messageIds.map(delivery.readMessageId).find((read) => read !== null);
  return (
    readEnvelopeSender(scope.keys, owner, report.envelope) ?? report.sendId ?? ours?.sendId ?? null
  );
};

/** A test email has no row: its id proves which address of this project it was for. */
const findTest = ({ keys, projectId }: Scope, sendId: string | null, report: Report) => {
  if (sendId === null) return null;
  const to = report.recipients
    .flatMap(({ addresses }) => addresses)
    .find((address) =>
      delivery.EMAIL_SERVICES.some((service) =>
        delivery.isTestEmail(keys, { projectId, to: address, service }, sendId),
      ),
    );
  return to === undefined ? null : { sendId, to };
};

/**
 * Returns the email that a report is about; null for one that this provider did not hand over. Anyone can write to the
 * address of a mailbox, so an address alone names no email, and neither does an id of another provider or project.
 */
export const matchReport = async (
  scope: Scope,
  providerId: string,
  report: Report,
): Promise<Matched | null> => {
  const sendId = claimedBy(scope, providerId, report);
  const { messageIds } = report;
  const trace = { sendId, messageIds, addressKey: NO_ADDRESS, occurredAt: new Date() };
  const [send] = await delivery.findNamed(scope, [trace]);
  if (!send) return findTest(scope, sendId, report);
  const [handed] = await delivery.listHandedBy(scope, [send.send_id], providerId);
  // The address of an erased person is gone, and so is everything that a report could change.
  return handed?.recipient ? { sendId: handed.send_id, to: handed.recipient } : null;
};
