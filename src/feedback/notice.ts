import type { IncomingHttpHeaders } from 'node:http';

export const KINDS = [
  'accepted',
  'delivered',
  'deferred',
  'bounced',
  'complained',
  'not_spam',
  'rejected',
  'failed',
  'unsubscribed',
  'resubscribed',
  'opened',
  'clicked',
  'auto_reply',
  'unknown',
] as const;

/** How hard a bounce is. Nothing but a hard bounce says that the mailbox is gone. */
export type BounceType = 'hard' | 'soft' | 'block' | 'undetermined';

/** What happened, in our words, and what it calls for. */
export type Meaning = {
  kind: (typeof KINDS)[number];
  /** Only for bounced and deferred. */
  bounceType: BounceType | null;
  /** Why the address is to be left alone, if it is. Of the provider's own list nothing was sent. */
  suppresses: 'hard_bounce' | 'complaint' | 'provider_suppressed' | null;
};

/** What an event means, where the provider may report the same in another event, too. */
export type RepeatableMeaning = Meaning & { isRepeat?: true };

/** A feedback event: what a provider reports about one email to one address. */
export type Notice = Meaning & {
  email: string;
  /** By the provider's clock. */
  occurredAt: Date;
  sendId: string | null;
  /** Every spelling under which the hand-off may have been recorded. */
  messageIds: readonly string[];
  reason: string | null;
  /** A provider's trial run: Trunkline stores it, and it changes nothing. */
  isTest: boolean;
  /** Unique per project and source: the same event twice is one event. */
  dedupeKey: string;
  /** The event has neither id nor time. Its key counts for a short time only. */
  isUndated?: true;
  /** The provider reports the same in another event, so it is not on the timeline a second time. */
  isRepeat?: true;
};

/** Where a token may stand: never in the body, which the service reads after it knows the token. */
export type Presented = { headers: IncomingHttpHeaders; query: URLSearchParams };

/** Returns what usually follows from a kind: a hard bounce and a complaint suppress the address. */
export const meaning = (
  kind: Meaning['kind'],
  bounceType: Meaning['bounceType'] = null,
): Meaning => {
  const isHardBounce = kind === 'bounced' && bounceType === 'hard';
  const told = kind === 'complained' ? 'complaint' : null;
  return { kind, bounceType, suppresses: isHardBounce ? 'hard_bounce' : told };
};

/** An address on the provider's own list for an earlier bounce: the provider sent nothing. */
export const ON_PROVIDER_LIST: Meaning = {
  ...meaning('bounced', 'hard'),
  suppresses: 'provider_suppressed',
};

/** An address on the provider's own list for an earlier complaint: the provider sent nothing. */
export const ON_COMPLAINT_LIST: Meaning = { ...meaning('rejected'), suppresses: 'complaint' };
