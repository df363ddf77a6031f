import type pg from 'pg';
import { newId } from '../../src/base/ids.ts';
import type { TestDatabase } from '../support/database.ts';

export const KEY = Buffer.alloc(32, 7);

/** What may be said of one address of one project, in SQL, and how it then stands. */
export const addressIn = (database: TestDatabase, projectId = newId(), key = KEY) => {
  const ask = async <Row extends pg.QueryResultRow>(text: string, values: unknown[]) =>
    (await database.owner.query<Row>(text, values)).rows;
  const suppress = (reason: string, at: string | null = null, source = 'test') =>
    ask(
      "select suppression.suppress_address($1, $2, 'ann@example.com', $3, $4, $5, $6::timestamptz)",
      [projectId, key, newId(), reason, source, at],
    );
  const lift = async (liftsComplaints = false, historyId = newId()): Promise<boolean> => {
    const [row] = await ask<{ lifted: boolean }>(
      `select suppression.lift_address($1, $2, $3, 'test', 'because', $4) as lifted`,
      [projectId, key, historyId, liftsComplaints],
    );
    return row?.lifted ?? false;
  };
  const subscribe = async (
    change: 'unsubscribed' | 'resubscribed',
    at: string | null = null,
    source = 'test',
  ): Promise<boolean> => {
    const [row] = await ask<{ changed: boolean }>(
      `select suppression.change_subscription($1, $2, 'ann@example.com', $3, $4, $5, $6::timestamptz) as changed`,
      [projectId, key, newId(), change, source, at],
    );
    return row?.changed ?? false;
  };
  const standing = () =>
    ask('select * from suppression.standing_reasons($1, $2) order by reason, since', [
      projectId,
      key,
    ]);
  const row = async () => {
    const [found] = await ask(
      `select email, reason, source, suppressed_at,
        coalesce(unsubscribed_at >= coalesce(resubscribed_at, '-infinity'), false) as is_unsubscribed
      from suppression.addresses where project_id = $1 and address_key = $2`,
      [projectId, key],
    );
    return found;
  };
  const history = () =>
    ask(
      `select change, reason, source, note, import_id, changed_at from suppression.history
      where project_id = $1 and address_key = $2 order by changed_at, history_id`,
      [projectId, key],
    );
  return { projectId, key, suppress, lift, subscribe, standing, row, history };
};

/** An import of addresses by their keys, in SQL. */
export const importIn = (database: TestDatabase, projectId: string, importId = newId()) => {
  const count = async (text: string, values: unknown[]): Promise<number> =>
    (await database.owner.query<{ count: number }>(text, values)).rows[0]?.count ?? -1;
  const idsFor = (keys: readonly Buffer[]) => keys.map(() => newId());
  const add = (keys: Buffer[], reason = 'manual') =>
    count(`select suppression.import_addresses($1, $2, 'import', null, $3, $4, $5, $6) as count`, [
      projectId,
      importId,
      keys,
      keys.map(() => 'ann@example.com'),
      keys.map(() => reason),
      idsFor(keys),
    ]);
  const undo = (keys: Buffer[]) =>
    count(`select suppression.undo_import($1, $2, 'test', $3, $4) as count`, [
      projectId,
      importId,
      keys,
      idsFor(keys),
    ]);
  return { importId, add, undo };
};
