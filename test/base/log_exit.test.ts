import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';

const LOG = join(import.meta.dirname, '..', '..', 'src', 'base', 'log.ts');
const CODE = 3;
const TEST_TIMEOUT_MS = 90_000;

test(
  'whoever ends while nobody reads their log any more ends all the same',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const script = `
    import { exitFlushed, openLog } from ${JSON.stringify(LOG)};
    process.once('message', () => {
      const log = openLog('info');
      log.info('one');
      log.info('two');
      exitFlushed(log, ${CODE});
    });
    process.send('ready');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    });
    await new Promise((resolve) => child.once('message', resolve));
    child.stdout?.destroy();
    child.send('end');
    try {
      expect(await until('it ends', () => child.exitCode)).toBe(CODE);
    } finally {
      child.kill('SIGKILL');
    }
  },
);
