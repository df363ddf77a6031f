import { newId } from '../../src/base/ids.ts';
import { record } from '../../src/feedback/feedback.ts';
import { meaning } from '../../src/feedback/notice.ts';
import type { Notice } from '../../src/feedback/notice.ts';
import { addressKey } from '../../src/suppression/suppression.ts';
import { sendsOf } from '../delivery/one_send.ts';
import type { TestDatabase } from '../support/database.ts';

export const EMAIL = 'ann@example.com';

const YESTERDAY_MS = (Math.floor(Date.now() / 86_400_000) - 1) * 86_400_000;
/** A moment of yesterday, so many minutes into it: of the same day for a whole file, also past midnight. */
export const at = (minute: number): Date => new Date(YESTERDAY_MS + minute * 60_000);

export const newNotice = (given: Partial<Notice> = {}): Notice => ({
  ...meaning(given.kind ?? 'delivered', given.bounceType),
  email: EMAIL,
  occurredAt: at(0),
  sendId: null,
  messageIds: [],
  reason: null,
  isTest: false,
  dedupeKey: newId(),
  ...given,
});
export const softBounce = (minute: number, given: Partial<Notice> = {}): Notice =>
  newNotice({ kind: 'bounced', bounceType: 'soft', occurredAt: at(minute), ...given });
export const delivery = (minute: number, given: Partial<Notice> = {}): Notice =>
  newNotice({ occurredAt: at(minute), ...given });

/** A project that is told of things. */
export const projectTold = (database: TestDatabase, projectId = newId()) => {
  const sends = sendsOf(database, projectId);
  const keyOf = (email: string) =>
    sends.within((scope) => Promise.resolve(addressKey(scope, email)));
  const tell = (...notices: Notice[]) => sends.within((scope) => record(scope, 'smtp', notices));
  /** A send to an address that a provider has accepted. */
  const accepted = async (email = EMAIL, providerMessageId: string | null = null) => {
    const send = await sends.handingOff({ recipient: email, addressKey: await keyOf(email) });
    await sends.end(send.sendId, 'accepted', { providerMessageId });
    return send.sendId;
  };
  const suppressed = async (email = EMAIL) => {
    const { rows } = await database.owner.query(
      `select reason, source, suppressed_at from suppression.addresses
       where project_id = $1 and address_key = $2 and suppressed_at is not null`,
      [projectId, await keyOf(email)],
    );
    return rows[0] ?? null;
  };
  return { projectId, sends, keyOf, tell, accepted, suppressed };
};
