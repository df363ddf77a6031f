import type { DatabaseTransactionConnection } from 'slonik';
import { inSession, sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { inTurnOf } from '../base/session_turns.ts';

/**
 * Reads one project as of one moment, in a transaction that nothing can be written in: so Postgres itself
 * promises that whoever only looks changes nothing.
 */
export const inSnapshot = <T>(
  { db, keys, turns }: Pick<Deps, 'db' | 'keys' | 'turns'>,
  projectId: string,
  work: (scope: Scope) => Promise<T>,
): Promise<T> =>
  inTurnOf(turns, projectId, () =>
    inSession(db, async (connection) => {
      await connection.query(sql.unsafe`begin isolation level repeatable read read only`);
      try {
        await connection.query(sql.unsafe`select base.use_project(${projectId})`);
        const tx = connection as unknown as DatabaseTransactionConnection;
        return await work({ projectId, keys, tx });
      } finally {
        await connection.query(sql.unsafe`rollback`);
      }
    }),
  );
