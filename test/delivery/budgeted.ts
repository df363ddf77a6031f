// Sends to addresses that only browsers asserted, of a project with an hourly budget for them.
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import type { Limits } from '../../src/delivery/limits.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { writeSettings } from '../../src/delivery/settings.ts';
import type { TestDatabase } from '../support/database.ts';
import { limitedSends, UNCONFIRMED_ONLY } from './limited.ts';
import { addressKeyOf } from './one_send.ts';

export const BROWSER_TRIGGERED: Limits = { browser_triggered: true, zone: 'UTC' };

export type Budget = { window_at: Date; used: number; parked_at: Date | null; parked: number };

export const budgeted = (database: TestDatabase, projectId = newId()) => {
  const limited = limitedSends(database, projectId);
  const decide = (unconfirmed_sends_max: number, recipient_sends_max = 3) =>
    inProject(database.deps, projectId, (scope) =>
      writeSettings(scope, { unconfirmed_sends_max, recipient_sends_max }),
    );
  const readBudget = async (): Promise<Budget | null> => {
    const { rows } = await database.owner.query<Budget>(
      'select window_at, used, parked_at, parked from delivery.unconfirmed_budgets where project_id = $1',
      [projectId],
    );
    return rows[0] ?? null;
  };
  const setBudget = (set: string) =>
    database.owner.query(`update delivery.unconfirmed_budgets set ${set} where project_id = $1`, [
      projectId,
    ]);
  /** Leased, to an address of its own, or of one mailbox. */
  const unconfirmed = async (given: Partial<NewSend> = {}): Promise<NewSend> =>
    limited.leased(await limited.person(), { limits: UNCONFIRMED_ONLY, ...given });
  /** Sends to one mailbox of runs that no server started, each to a person of its own. */
  const browserTriggered = async (mailbox: string, given: Partial<NewSend> = {}) => {
    const mailboxKey = addressKeyOf(mailbox);
    return limited.leased(await limited.person(), {
      limits: BROWSER_TRIGGERED,
      mailboxKey,
      ...given,
    });
  };
  return { ...limited, decide, readBudget, setBudget, unconfirmed, browserTriggered };
};
