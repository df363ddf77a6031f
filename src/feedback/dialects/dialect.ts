import type { IncomingHttpHeaders } from 'node:http';
import type { EmailService } from '../../delivery/delivery.ts';
import type { Notice } from '../notice.ts';

/**
 * How many feedback events one post of a vendor may hold. The largest that a vendor documents is
 * 1,000 or more.
 */
export const EVENTS_MAX = 5_000;

/** The content type of dialects that know one. */
export const JSON_ONLY = /^application\/(?:[\w.+-]{1,60}\+)?json\s*(?:;|$)/i;

/** A body as it came. */
export type Posted = { raw: Buffer; contentType: string; receivedAt: Date };

/** A body and the headers that may hold its signature. */
export type SignedPost = Posted & { headers: IncomingHttpHeaders };

/** What is wrong with one event of a body. Trunkline takes its neighbors all the same. */
export type ReadError = { index: number; path: string; message: string };

/**
 * A feedback event as a vendor reports it. Without a recipient it is about the recipient of the
 * send that it names.
 */
export type ReadNotice = Omit<Notice, 'email'> & { email: string | null };

export type ReadResult = {
  notices: ReadNotice[];
  errors: ReadError[];
  /**
   * Events that are about no email on purpose: a test of the URL, a change of the account. They
   * count as ignored.
   */
  asideCount?: number;
};

/**
 * What a signature proves: that a post was signed with the key, at a time. `postId` is unique for
 * each signed post: Trunkline remembers it with the effect, so a replay has none.
 */
export type Proof = { postId: string; signedAt: Date };

/** A signature over each post, with a key that the project enters. */
export type SignatureCheck = {
  kind: 'signature';
  /**
   * Without a key, a vendor that signs on request posts with the webhook token; any other is
   * refused.
   */
  isRequired: boolean;
  /** What the vendor calls the key. */
  keyName: string;
  /**
   * How old a signature may be, in minutes. A vendor that retries with the old signature needs the
   * time of its retries.
   */
  minutesMax: number;
  /** Returns what is wrong with a key, or null. */
  findKeyFault: (key: string) => string | null;
  /** Whether a post brings a signature at all. */
  hasSignature: (post: SignedPost) => boolean;
  /** Returns what the signature proves, whatever its age; null for a wrong one. */
  verify: (post: SignedPost, key: string) => Proof | null;
};

/**
 * How a post proves who sent it: the webhook token, the vendor's signature, or the topic that
 * signed it.
 */
export type Verification = { kind: 'token' } | SignatureCheck | { kind: 'topic' };

/** What a project does at the vendor, in order. The Console shows it beside the URL. */
export type SetUp = {
  steps: readonly string[];
  /** The vendor's names of the events to select. */
  subscribeTo: readonly string[];
  /**
   * Whether the URL has to carry the webhook token, because the vendor sends no header of the
   * project's choice.
   */
  isTokenInUrl: boolean;
};

/**
 * One vendor's dialect. No database, no HTTP. To add one, add a folder beside this file and a line
 * in `dialects.ts`.
 */
export type Dialect = {
  /** The vendor's name. */
  name: string;
  /** Other slugs for the same webhook. */
  aliases?: readonly string[];
  /**
   * Which emails a feedback event must be about to have an effect. `any`: the project itself posts
   * it, with its token. `not_foreign`: any email except those of other projects here, which may
   * share an account at the vendor. A service: only emails that this project handed to that
   * service.
   */
  about: 'any' | 'not_foreign' | EmailService;
  /**
   * The service whose ids this vendor reports. An event waits while a send to its address is handed
   * to that service.
   */
  service?: EmailService;
  verification: Verification;
  /** The content types that it posts; null for any. */
  mediaTypes: RegExp | null;
  setUp: SetUp;
  /** Returns what a verified post reports. */
  read: (posted: Posted) => ReadResult | Promise<ReadResult>;
};
