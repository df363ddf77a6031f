import { readConfig } from '../../src/config.ts';
import { TEST_MASTER_KEY } from './secrets.ts';

/** What settings are that nobody gives. */
export const DEFAULTS = readConfig({
  DATABASE_URL: 'postgres://127.0.0.1/nowhere',
  MASTER_KEY: TEST_MASTER_KEY,
});
