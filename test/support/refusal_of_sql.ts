import type pg from 'pg';

/** What the server says to a statement, or nothing when it obeys. A transaction that it ended is rolled back. */
export const refusalOf = async (client: pg.Client, statement: string): Promise<string> => {
  try {
    await client.query(statement);
    return '';
  } catch (error) {
    await client.query('rollback');
    return error instanceof Error ? error.message : String(error);
  }
};
