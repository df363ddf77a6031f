import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { armFailpoint, failpoint } from '../../src/base/failpoint.ts';

const MODULE = join(import.meta.dirname, '..', '..', 'src', 'base', 'failpoint.ts');

/** How a process ends that arms one failpoint and passes another. */
const run = async (armed: string | null, passed: string) => {
  const script = `
    const { armFailpoint, failpoint } = await import(${JSON.stringify(MODULE)});
    armFailpoint(${JSON.stringify(armed)});
    failpoint(${JSON.stringify(passed)});
    process.exitCode = 7;`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return { code, signal };
};

test('an armed failpoint kills the process at once, for good', async () => {
  expect(await run('mid_body', 'mid_body')).toEqual({ code: null, signal: 'SIGKILL' });
});

test('any other failpoint lets it pass, and so does none', async () => {
  expect(await run('mid_body', 'after_hand_off_commit')).toEqual({ code: 7, signal: null });
  expect(await run(null, 'mid_body')).toEqual({ code: 7, signal: null });
});

test('a name that does not exist is refused with those that do', () => {
  expect(() => armFailpoint('somewhere')).toThrow(/somewhere.*before_hand_off_commit.*mid_body/);
  expect(() => armFailpoint('')).toThrow();
});

test('nothing is armed by itself', () => {
  armFailpoint(null);
  expect(() => failpoint('mid_body')).not.toThrow();
});
