import { defineConfig } from 'vitest/config';
import { COMPILED } from '../src/runtime/start_service.ts';
import { SlowestFirst } from './support/slowest_first.ts';

const DEADLINE_MS = 90_000;
/** What a test waits for, however busy the machine is; less than its deadline, so that it says what it waited for. */
const POLL_MS = 60_000;
/** They set the clock, and what has seen another clock is kept in modules: the last id's millisecond, for one. */
const OF_ANOTHER_TIME = [
  'admin/preview.test.ts',
  'base/window_counters.test.ts',
  'feedback/refused_posts.test.ts',
  'feedback/take_bounce.test.ts',
  'http/limits.test.ts',
];
const STATEMENTS = 'statements.test.ts';

export default defineConfig({
  root: import.meta.dirname,
  cacheDir: '../node_modules/.vite',
  test: {
    globalSetup: './support/global_setup.ts',
    testTimeout: DEADLINE_MS,
    hookTimeout: DEADLINE_MS,
    expect: { poll: { timeout: POLL_MS } },
    maxWorkers: 3,
    // For the commands that tests run.
    env: { NODE_COMPILE_CACHE: COMPILED },
    sequence: { sequencer: SlowestFirst },
    projects: [
      // The modules of the service are read once a process, not once a file: a fifth of the time.
      {
        extends: true,
        test: {
          name: 'rooms',
          include: ['**/*.test.ts'],
          exclude: [STATEMENTS, ...OF_ANOTHER_TIME],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'of another time', include: OF_ANOTHER_TIME } },
      // Reads what every other test made Postgres do, so it runs when they are done.
      {
        extends: true,
        test: { name: 'statements', include: [STATEMENTS], sequence: { groupOrder: 1 } },
      },
    ],
  },
});
