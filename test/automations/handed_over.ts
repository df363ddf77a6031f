// The one send of an automation through the API, and what a turn of its provider makes of it.
import { expect } from 'vitest';
import { sendQueued } from '../../src/delivery/delivery.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { OWNER } from '../delivery/one_send.ts';
import { SHOWN_ID } from '../http/as_shown.ts';
import { NEVER } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import type { automationsThroughApi } from './through_api.ts';

type Through = Pick<ReturnType<typeof automationsThroughApi>, 'api' | 'ask'>;

export const handedOver = (database: TestDatabase, { api, ask }: Through) => {
  const readSend = async (id: string) => {
    const { items } = (await ask('GET', `/v1/sends?automation_id=${id}`)).body;
    expect(items).toHaveLength(1);
    return (await ask('GET', `/v1/sends/${items[0].id}`)).body;
  };
  /** One turn of the provider, as a worker takes it, and what the send log says afterwards. */
  const handOver = async (id: string) => {
    const turn = { projectId: api.project.project_id, providerId: SHOWN_ID, owner: OWNER };
    await sendQueued(database.deps, { ...turn, signal: NEVER, takeBounce });
    return readSend(id);
  };
  return { readSend, handOver };
};
