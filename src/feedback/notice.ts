import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** What a provider told us, in our words. */
export type Notice = {
  kind:
    | 'delivered'
    | 'bounced'
    | 'deferred'
    | 'complained'
    | 'unsubscribed'
    | 'rejected'
    | 'opened'
    | 'clicked'
    | 'unknown';
  /** Only for bounced and deferred. Nothing but a hard bounce says that the mailbox is gone. */
  bounceType: 'hard' | 'soft' | 'block' | null;
  email: string;
  /** By the provider's clock. */
  occurredAt: Date;
  sendId: string | null;
  messageId: string | null;
  reason: string | null;
  /** Unique per project and source: the same notice twice is one notice. */
  dedupeKey: string;
};

/** Where a token may stand: never in the body, which nobody reads before the token is known. */
export type Presented = { headers: IncomingHttpHeaders; query: URLSearchParams };

/** What is wrong with one event of a body; its neighbours are taken all the same. */
export type ReadError = { index: number; path: string; message: string };
export type ReadResult = { notices: Notice[]; errors: ReadError[] };

/** One provider's dialect: where its token is, then what it says. No database, no HTTP. */
export type Adapter = {
  /** The project's webhook token as presented, or null. Checked against the project before anything else. */
  readToken: (presented: Presented) => string | null;
  read: (raw: Buffer, receivedAt: Date) => ReadResult;
};

/** A dedupe key for a notice that brings no id of its own. */
export const hashOf = (parts: readonly (string | null)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
