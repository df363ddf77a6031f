// What tests of the server SDK ask the database, and how they make a client.
import { onTestFinished } from 'vitest';
import { Trunkline } from '../../src/sdk/server/server.ts';
import type { TrunklineError, TrunklineOptions } from '../../src/sdk/server/server.ts';
import type { TestApi } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';

export type Told = {
  name: string;
  external_id: string | null;
  anonymous_id: string | null;
  properties: Record<string, unknown>;
  occurred_at: Date;
};

/** The project's events as they are stored, in the order in which the service took them. */
export const eventsOf = async ({ owner }: TestDatabase, { project }: TestApi): Promise<Told[]> => {
  const { rows } = await owner.query<Told>(
    `select name, external_id, anonymous_id, properties, occurred_at from ingest.events
     where project_id = $1 order by event_id`,
    [project.project_id],
  );
  return rows;
};

/** Short waits: what is tested is that it waits, and goes on. */
const QUICK = { flushIntervalMs: 20, retryBaseMs: 5, retryMaxMs: 40, requestTimeoutMs: 5_000 };

/** A client that is closed with the test, whatever is left of its queue, and the errors it told. */
export const newClient = (
  api: TestApi,
  options: Partial<TrunklineOptions> = {},
): { client: Trunkline; told: TrunklineError[] } => {
  const told: TrunklineError[] = [];
  const client = new Trunkline({
    token: api.project.server_key,
    apiHost: api.url,
    onError: (error) => told.push(error),
    ...QUICK,
    ...options,
  });
  onTestFinished(() => client.close({ timeoutMs: 0 }).catch(() => {}));
  return { client, told };
};

export const caught = async (work: () => unknown): Promise<TrunklineError> => {
  try {
    await work();
  } catch (error) {
    return error as TrunklineError;
  }
  throw new Error('nothing was thrown');
};
