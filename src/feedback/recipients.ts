import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import type { ReadNotice } from './dialects/dialect.ts';
import type { Notice } from './notice.ts';
import { sendIdOf } from './sends.ts';

/** No address: such an event names its send by an id or not at all. */
const NO_ADDRESS = Buffer.alloc(0);

const hasEmail = (notice: ReadNotice): notice is Notice => notice.email !== null;

/**
 * Gives events without a recipient the recipient of the send that they name. Returns the others
 * apart: they can have no effect.
 */
export const addRecipients = async (
  scope: Scope,
  notices: readonly ReadNotice[],
): Promise<{ addressed: readonly Notice[]; unaddressed: readonly ReadNotice[] }> => {
  const without = notices.filter((notice) => !hasEmail(notice));
  if (without.length === 0) return { addressed: notices.filter(hasEmail), unaddressed: [] };
  const sends = await delivery.findNamed(
    scope,
    without.map((notice) => ({
      sendId: sendIdOf(notice),
      messageIds: notice.messageIds,
      addressKey: NO_ADDRESS,
      occurredAt: notice.occurredAt,
    })),
  );
  const ids = sends.flatMap((send) => send?.send_id ?? []);
  const rows = await delivery.listRecipients(scope, ids);
  const emails = new Map(rows.map(({ send_id, recipient }) => [send_id, recipient]));
  const completed = new Map(
    without.map((notice, nth) => [notice, emails.get(sends[nth]?.send_id ?? '') ?? null]),
  );
  const all = notices.map((notice) =>
    hasEmail(notice) ? notice : { ...notice, email: completed.get(notice) ?? null },
  );
  return { addressed: all.filter(hasEmail), unaddressed: all.filter((one) => !hasEmail(one)) };
};
