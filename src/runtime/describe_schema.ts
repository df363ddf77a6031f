import type pg from 'pg';
export const describeSchema = async (_client: pg.Client): Promise<string> => '';
