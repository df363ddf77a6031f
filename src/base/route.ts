import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Caller } from './caller.ts';
import type { Deps } from './deps.ts';
import type { RefusalName } from './refusal.ts';
import type { Work } from './work_units.ts';

/** Who may call: a kind of key (a server key may do all that a publishable one may), or a provider's webhook. */
export type Access = 'publishable' | 'server' | 'webhook';

/** What is known of a request before its query and body are looked at. */
export type Addressed = {
  deps: Deps;
  caller: Caller;
  /** Which of the project's keys it came with. */
  keyId: string;
  params: Record<string, string>;
  /**
   * Of a request with an Idempotency-Key: the same each time it is tried, also after a crash. What is
   * stored under it is stored once.
   */
  repetitionId?: string;
  /** Of a request that brought a trace: how it goes on here. For logs and calls out, and nothing else. */
  traceparent?: string | undefined;
};

/** Returns where an endpoint works: in the project of its key. */
export const whereOf = ({ deps, caller: { projectId } }: Pick<Addressed, 'deps' | 'caller'>) => ({
  deps,
  projectId,
});

export type Inbound<Body, Query, Found> = Addressed & { found: Found; query: Query; body: Body };

/** Who a post to a webhook counts for. */
export type PostSender = { projectId: string; isProven: boolean };

/** What a webhook is given before anything is verified. */
export type RawInbound = {
  deps: Deps;
  params: Record<string, string>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** The address of the client. */
  address: string;
  /**
   * Counts the post before its body is read, under its sender: a project that its token proves, or a stranger, who
   * may post to any project. Refuses it past the limit.
   */
  countAs: (sender: PostSender) => void;
  /** Charges the post for what its body holds. Refuses it whole past the limit. */
  charge: (work: readonly Work[]) => void;
  /**
   * The body's bytes, which is what signatures cover. Refuses what is larger than `bytesMax` (that of the route where
   * none is given), or of another type than `mediaTypes` (JSON where none are named; null is any). Once.
   */
  readRaw: (mediaTypes?: RegExp | null, bytesMax?: number) => Promise<Buffer>;
};

/** How long a client may take over one piece of a streamed answer; then it is left. */
export const STREAM_STALL_MS = 10_000;

/**
 * What a handler answers when the answer may be too large to be held: pieces of one JSON text, made
 * while they are sent. What fails before the first piece is refused as usual; after that the connection
 * is cut, so that what was sent cannot look complete.
 */
export class JsonStream {
  readonly pieces: AsyncIterable<string>;

  constructor(pieces: AsyncIterable<string>) {
    this.pieces = pieces;
  }
}

/** The body of a route that needs none: whoever sends a member has misread something. */
export const NothingNeeded = z.strictObject({}).meta({ examples: [{}] });

/** How large a JSON body may be where the route does not say otherwise. */
export const BODY_BYTES_DEFAULT = 64 * 1024;

/** What the documents say of an endpoint; what they can tell from the rest of its declaration, they do. */
type Described = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** One sentence. */
  summary: string;
  /** What a caller has to know besides. */
  description?: string;
  /** What may stand for each name in the path. */
  params?: z.ZodObject;
  status: number;
  answer: z.ZodType;
  /** What it answers to the example of its body, where the answer's own example tells of something else. */
  example?: unknown;
  /** Refusals of this endpoint's own, besides those that its access, `find`, query and body imply. */
  refusals?: readonly RefusalName[];
};

/**
 * How an answer that tells of somebody is given again to a repeated request. Only the id of what it is
 * about is kept, so that there is nothing to erase, and nothing of an erased person is told again.
 */
export type Again = {
  idIn: (answer: unknown) => string;
  /** The answer as it is by now; null when what it was about is gone. `body` is as its schema parsed it. */
  find: (addressed: Addressed & { body?: unknown }, id: string) => Promise<unknown>;
};

export type JsonRoute<Body = unknown, Query = unknown, Found = unknown> = Described & {
  access: 'publishable' | 'server';
  /**
   * Of a POST that changes nothing: it is answered afresh each time, whatever Idempotency-Key comes with it, and
   * nothing of its answer is kept.
   */
  isReading?: true;
  /**
   * Of what other people's libraries call: the key may also be the user name of Basic authentication or `writeKey` in
   * the body, which may be packed with gzip and be called anything.
   */
  takesWriteKey?: true;
  /** For an answer that tells of somebody; any other is kept as it was given. */
  again?: Again;
  /** What the path names; null is 404, whatever else is wrong with the request. */
  find?: (addressed: Addressed) => Promise<Found | null>;
  body?: z.ZodType<Body>;
  /** Who sends no body has sent `{}`, and need not say that it is JSON. */
  isBodyOptional?: boolean;
  bodyBytesMax?: number;
  /** What the work of a request costs, part by part; one unit where a route does not say. */
  workOf?: (body: Body, found: Found) => readonly Work[];
  query?: z.ZodType<Query>;
  handle: (inbound: Inbound<Body, Query, Found>) => Promise<unknown>;
};

export type WebhookRoute = Described & {
  access: 'webhook';
  /** What the handler makes of the bytes, for the documents: it is given them unparsed. */
  body: z.ZodType;
  bodyBytesMax: number;
  handle: (inbound: RawInbound) => Promise<unknown>;
};

/** One endpoint of the API: everything that its door, its documents and its tests need to know. */
export type Route = JsonRoute | WebhookRoute;

/** Declares an endpoint; `handle` gets what the schemas parsed. */
export const route = <Body, Query, Found>(declared: JsonRoute<Body, Query, Found>): Route =>
  declared as unknown as Route;

export const webhookRoute = (declared: WebhookRoute): Route => declared;

/**
 * Whether what it changes goes into the audit log: whatever only a server key may change. What browsers
 * may post, too, is the stream of events itself, and pays nothing for it.
 */
export const isAudited = (route: Route): boolean =>
  route.access === 'server' && route.method !== 'GET' && route.isReading !== true;

/** A bound that callers can run into, for the documents. */
export type Limit = {
  name: string;
  value: number;
  unit:
    | 'a day'
    | 'a second'
    | 'an hour'
    | 'per 15 minutes'
    | 'bytes'
    | 'characters'
    | 'days'
    | 'hours'
    | 'items'
    | 'levels'
    | 'milliseconds'
    | 'minutes'
    | 'months';
  /** Where it holds. */
  where: string;
};
