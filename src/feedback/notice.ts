import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { EmailService } from '../delivery/delivery.ts';

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
  'unknown',
] as const;

/** What happened, in our words, and what it calls for. */
export type Meaning = {
  kind: (typeof KINDS)[number];
  /** Only for bounced and deferred. Nothing but a hard bounce says that the mailbox is gone. */
  bounceType: 'hard' | 'soft' | 'block' | 'undetermined' | null;
  /** Why the address is to be left alone, if it is. Of the provider's own list nothing was sent. */
  suppresses: 'hard_bounce' | 'complaint' | 'provider_suppressed' | null;
};

/** What a provider told us. */
export type Notice = Meaning & {
  email: string;
  /** By the provider's clock. */
  occurredAt: Date;
  sendId: string | null;
  /** Every spelling under which the hand-off may have been remembered. */
  messageIds: readonly string[];
  reason: string | null;
  /** A provider's trial run: kept, and changes nothing. */
  isTest: boolean;
  /** Unique per project and source: the same notice twice is one notice. */
  dedupeKey: string;
};

/** Where a token may stand: never in the body, which nobody reads before the token is known. */
export type Presented = { headers: IncomingHttpHeaders; query: URLSearchParams };

/** What is wrong with one event of a body; its neighbours are taken all the same. */
export type ReadError = { index: number; path: string; message: string };
export type ReadResult = {
  notices: Notice[];
  errors: ReadError[];
  /** Whether it is about no message at all, and means to be. */
  isAside?: boolean;
};

/** A body as it came. */
export type Posted = { raw: Buffer; contentType: string; receivedAt: Date };

/** One provider's dialect. No database, no HTTP. */
export type Adapter = {
  /**
   * Which messages a notice must be about to have an effect. `any`: the poster has the project's token, so the project
   * itself says it. `not_foreign`: any message except those of other projects, which may share an account at the
   * provider. A service: only messages that this project handed to that service.
   */
  about: 'any' | 'not_foreign' | EmailService;
  /** How a post proves itself: by the project's token, by a signature over it, or by its topic's. */
  proof: 'token' | 'signing_key' | 'topic';
  /** The content types that it comes in; null for any. */
  mediaTypes: RegExp | null;
  /** What a proven post says. */
  read: (posted: Posted) => ReadResult | Promise<ReadResult>;
};

/** What usually follows from a kind: a mailbox that is gone and a complaint suppress. */
export const meaning = (
  kind: Meaning['kind'],
  bounceType: Meaning['bounceType'] = null,
): Meaning => {
  const isHardBounce = kind === 'bounced' && bounceType === 'hard';
  const told = kind === 'complained' ? 'complaint' : null;
  return { kind, bounceType, suppresses: isHardBounce ? 'hard_bounce' : told };
};

/** A dedupe key for a notice that brings no id of its own. */
export const hashOf = (parts: readonly (string | null)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
