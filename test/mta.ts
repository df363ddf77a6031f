// The transports against a relay that we did not write: `make test-mta`. Installs Exim where apt is there.
import { spawnSync } from 'node:child_process';
import { hasExim } from './mta/exim.ts';

const run = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'inherit' }).status === 0;

/** Asks nothing, and does not start the daemon of the package: tests start one of their own. */
const QUIETLY = ['DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1'];
const PACKAGE = ['--no-install-recommends', 'exim4-daemon-light'];
const install = (): boolean =>
  run('env', ...QUIETLY, 'apt-get', 'install', '-y', '-qq', ...PACKAGE);

if (!hasExim() && !install()) {
  console.log(
    'skipped: Exim is not here and could not be installed. As root on Debian or Ubuntu: ' +
      'apt-get update && apt-get install exim4-daemon-light',
  );
  process.exit(0);
}
process.exitCode = run('vitest', 'run', '--config', 'test/vitest.config.ts', 'test/mta') ? 0 : 1;
