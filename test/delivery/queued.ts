import { newId } from '../../src/base/ids.ts';
import { connectTo } from '../base/connections.ts';
import type { TestDatabase } from '../support/database.ts';
import { newSend, sendsOf } from './one_send.ts';

/** Sends of one provider, planned by automation, and what the functions say of them. */
export const makeQueue = async (database: TestDatabase) => {
  const [projectId, providerId] = [newId(), newId()];
  const sends = sendsOf(database, projectId);
  const plan = async (automationId: string, count: number, providedBy = providerId) => {
    const planned = Array.from({ length: count }, () =>
      newSend({ providerId: providedBy, automationId }),
    );
    for (const send of planned) await sends.plan(send);
    return planned.map(({ sendId }) => sendId);
  };
  const client = await connectTo(database, projectId);
  const ask = async (call: string, values: unknown[]): Promise<string[]> =>
    (await client.query<{ ids: string[] }>(`select delivery.${call} as ids`, values)).rows[0]
      ?.ids ?? [];
  const take = (sendsMax: number, taken: string[] = []) =>
    ask('take_due($1, $2, 2, $3, $4, now())', [projectId, providerId, taken, sendsMax]);
  const list = (priority: number) =>
    ask('list_queues($1, $2, $3)', [projectId, providerId, priority]);
  return { sends, plan, take, list };
};
