import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { Caller } from './caller.ts';
import type { Deps } from './deps.ts';

/** Who may call: a kind of key (a server key may do all that a publishable one may), or a provider's webhook. */
export type Access = 'publishable' | 'server' | 'webhook';

/** What is known of a request before its query and body are looked at. */
export type Addressed = {
  deps: Deps;
  caller: Caller;
  params: Record<string, string>;
};

export type Inbound<Body, Query, Found> = Addressed & { found: Found; query: Query; body: Body };

/** What a webhook is given before anything is verified. */
export type RawInbound = {
  deps: Deps;
  params: Record<string, string>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /**
   * The body's bytes, which is what signatures cover. Refuses what is too large, or not said to be
   * JSON, or not UTF-8. Once.
   */
  readRaw: () => Promise<Buffer>;
};

type Described = {
  method: 'GET' | 'POST';
  path: string;
  summary: string;
  status: number;
  answer: z.ZodType;
};

export type JsonRoute<Body = unknown, Query = unknown, Found = unknown> = Described & {
  access: 'publishable' | 'server';
  /** What the path names; null is 404, whatever else is wrong with the request. */
  find?: (addressed: Addressed) => Promise<Found | null>;
  body?: z.ZodType<Body>;
  bodyBytesMax?: number;
  query?: z.ZodType<Query>;
  handle: (inbound: Inbound<Body, Query, Found>) => Promise<unknown>;
};

export type WebhookRoute = Described & {
  access: 'webhook';
  bodyBytesMax: number;
  handle: (inbound: RawInbound) => Promise<unknown>;
};

/** One endpoint of /v1: everything that its door, its documents and its tests need to know. */
export type Route = JsonRoute | WebhookRoute;

/** Declares an endpoint; `handle` gets what the schemas parsed. */
export const route = <Body, Query, Found>(declared: JsonRoute<Body, Query, Found>): Route =>
  declared as unknown as Route;

export const webhookRoute = (declared: WebhookRoute): Route => declared;
