// What every file that provokes refusals knows.
import type { Endpoint } from '../../src/http/openapi_read.ts';
import type { Mood, Signer } from '../feedback/sns_service.ts';
import type { Answer, TestApi } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';
import type { HttpsSink } from '../support/https_sink.ts';
import type { RefusalName } from '../../src/base/refusal.ts';
import { SHOWN_EMAIL, SHOWN_ID } from './as_shown.ts';
import { slugFor } from './samples.ts';

/** The same service where something is amiss, by its address. */
export type Elsewhere = {
  /** Waits for requests for a fraction of a second. */
  impatient: string;
  /** Grants a key one request. */
  tight: string;
  /** Grants a key one unit, in one request. */
  poor: string;
  /** Cannot reach its database. */
  alone: string;
  /** Its statements may take 50 ms. */
  slow: string;
  /** Asks a stand-in for Amazon SNS, which signs like this. */
  sns: { url: string; signer: Signer; mood: (mood: Mood) => void };
};
export type Surroundings = {
  database: TestDatabase;
  api: TestApi;
  /** What the project's e-mail provider is connected to. */
  relay: HttpsSink;
  elsewhere: Elsewhere;
};
export type Provoke = (endpoint: Endpoint) => Promise<Answer>;

/** A way to each refusal that is known. */
export type Ways = Partial<Record<RefusalName, Provoke>>;

export const pathOf = ({ path }: Endpoint, { project }: TestApi): string =>
  path
    .replace('{slug}', slugFor(path))
    .replace('{project_id}', project.project_id)
    .replace('{email}', SHOWN_EMAIL)
    .replace('{id}', SHOWN_ID)
    .replace('{version}', '1')
    .replace('{call}', 'track');

export const keyOf = (
  { operation }: Endpoint,
  { publishable_key, server_key, hook_token }: TestApi['project'],
): string => {
  const [scheme = ''] = (operation.security ?? []).flatMap((one) => Object.keys(one));
  return { publishable_key, server_key }[scheme] ?? hook_token;
};

/** Asks the service at another address for as long as a piece of work takes. */
export const asking = async <T>(api: TestApi, url: string, work: () => Promise<T>): Promise<T> => {
  const own = api.url;
  api.url = url;
  try {
    return await work();
  } finally {
    api.url = own;
  }
};
