import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { Caller } from './caller.ts';
import type { Deps } from './deps.ts';

/** Who may call: a kind of key (a server key may do all that a publishable one may), or a provider's webhook. */
export type Access = 'publishable' | 'server' | 'webhook';

export type Inbound<Body, Query> = {
  deps: Deps;
  caller: Caller;
  params: Record<string, string>;
  query: Query;
  body: Body;
};

/** What a webhook is given before anything is verified: the raw bytes are what signatures cover. */
export type RawInbound = {
  deps: Deps;
  params: Record<string, string>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  raw: Buffer;
};

type Described = {
  method: 'GET' | 'POST';
  path: string;
  summary: string;
  status: number;
  answer: z.ZodType;
};

export type JsonRoute<Body = unknown, Query = unknown> = Described & {
  access: 'publishable' | 'server';
  body?: z.ZodType<Body>;
  bodyBytesMax?: number;
  query?: z.ZodType<Query>;
  handle: (inbound: Inbound<Body, Query>) => Promise<unknown>;
};

export type WebhookRoute = Described & {
  access: 'webhook';
  bodyBytesMax: number;
  handle: (inbound: RawInbound) => Promise<unknown>;
};

/** One endpoint of /v1: everything that its door, its documents and its tests need to know. */
export type Route = JsonRoute | WebhookRoute;

/** Declares an endpoint; `handle` gets what the schemas parsed. */
export const route = <Body, Query>(declared: JsonRoute<Body, Query>): Route =>
  declared as unknown as Route;

export const webhookRoute = (declared: WebhookRoute): Route => declared;
