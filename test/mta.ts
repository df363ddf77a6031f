// The transports against a relay that we did not write: `make test-mta`. Installs Exim where apt is there.
import { spawnSync } from 'node:child_process';
import { hasExim } from './mta/exim.ts';

const run = (command: string, args: string[], env: Record<string, string> = {}): boolean =>
  spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...env } }).status === 0;

/** The daemon of the package is not started: tests start one of their own. */
const install = (): boolean =>
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'exim4-daemon-light'], {
    DEBIAN_FRONTEND: 'noninteractive',
    RUNLEVEL: '1',
  });

if (!hasExim() && !install()) {
  console.log(
    'skipped: Exim is not here and could not be installed. As root on Debian or Ubuntu: ' +
      'apt-get update && apt-get install exim4-daemon-light',
  );
  process.exit(0);
}
process.exitCode = run('vitest', ['run', '--config', 'test/vitest.config.ts', 'test/mta']) ? 0 : 1;
