import { defineConfig } from 'vitest/config';

const DEADLINE_MS = 30_000;
/** What a test waits for, however busy the machine is; less than its deadline, so that it says what it waited for. */
const POLL_MS = 20_000;

export default defineConfig({
  root: import.meta.dirname,
  cacheDir: '../node_modules/.vite',
  test: {
    globalSetup: './support/global_setup.ts',
    testTimeout: DEADLINE_MS,
    hookTimeout: DEADLINE_MS,
    expect: { poll: { timeout: POLL_MS } },
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: { name: 'rooms', include: ['**/*.test.ts'], exclude: ['statements.test.ts'] },
      },
      // Reads what every other test made Postgres do, so it runs when they are done.
      {
        extends: true,
        test: { name: 'statements', include: ['statements.test.ts'], sequence: { groupOrder: 1 } },
      },
    ],
  },
});
