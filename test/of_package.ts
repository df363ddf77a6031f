// Tests that need a program of the system: installs its Debian package where apt is, and runs them.
import { spawnSync } from 'node:child_process';

const run = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'inherit' }).status === 0;

/** Asks nothing, and does not start the daemon of the package: tests start one of their own. */
const QUIETLY = ['DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1'];

type Needed = { name: string; isHere: () => boolean; debianPackage: string };

/** Runs a folder of tests with a program; says what is missing where it cannot be had. Answers the exit code. */
export const testWithPackage = (
  folder: string,
  { name, isHere, debianPackage }: Needed,
): number => {
  const apt = ['apt-get', 'install', '-y', '-qq', '--no-install-recommends', debianPackage];
  if (!isHere() && !run('env', ...QUIETLY, ...apt)) {
    console.log(
      `skipped: ${name} is not here and could not be installed. As root on Debian or Ubuntu: ` +
        `apt-get update && apt-get install ${debianPackage}`,
    );
    return 0;
  }
  return run('vitest', 'run', '--config', 'test/vitest.config.ts', folder) ? 0 : 1;
};
