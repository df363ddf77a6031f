import { expect } from 'vitest';
import { readMessageId } from '../../src/delivery/message.ts';
import type { RelayWorld } from './relay_world.ts';

/** Resolves each unknown send as an operator does: by the relay's log. What is not in it is sent once more. */
export const settleUnknown = async ({ world, relay, call }: RelayWorld): Promise<void> => {
  const { rows } = await world.owner.query<{ send_id: string; attempt: number }>(
    `select send_id, max(attempt) as attempt from delivery.attempts join delivery.sends using (project_id, send_id)
    where status = 'unknown' group by send_id`,
  );
  if (rows.length === 0) return;
  const taken = new Set((await relay().taken()).map((id) => readMessageId(id)?.sendId));
  for (const { send_id: id, attempt } of rows) {
    const found = taken.has(id)
      ? { outcome: 'accepted' }
      : { outcome: 'not_sent', send_again_after: attempt };
    expect(await call('POST', `/v1/sends/${id}/resolve`, found)).toMatchObject({ status: 200 });
  }
};
