import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import { STOPPED } from '../past_queries.ts';

const RunSend = z.strictObject({
  run_id: z.uuid(),
  step_id: z.string(),
  send_id: z.uuid(),
  status: z.string(),
  status_reason: z.string().nullable(),
  recipient: z.string().nullable(),
  queued_at: z.date(),
});
/** A send of a run, and how it stands. */
export type RunSend = z.output<typeof RunSend>;

/** Lists the sends of some runs. */
export const listSendsOfRuns = ({ tx, projectId }: Scope, runIds: readonly string[]) =>
  tx.any(sql.type(RunSend)`
    select run_id, step_id, send_id, status, status_reason, recipient, queued_at from delivery.sends
    where project_id = ${projectId} and run_id = any (${sql.array([...runIds], 'uuid')}) and step_id is not null
    order by send_id
  `);

/** Whether no email went out for a send, and none will. */
export const isStopped = ({ status }: Pick<RunSend, 'status'>): boolean => STOPPED.includes(status);

/** Lists the sends of some runs, without those that are stopped. */
export const listSentOfRuns = async (scope: Scope, runIds: readonly string[]): Promise<RunSend[]> =>
  (await listSendsOfRuns(scope, runIds)).filter((send) => !isStopped(send));
