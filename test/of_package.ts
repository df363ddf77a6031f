// Tests that need a program of the system: installs its Debian package where apt is, and runs them.
import { spawnSync } from 'node:child_process';

const run = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'inherit' }).status === 0;

/** Asks nothing, and does not start the daemon of the package: tests start one of their own. */
const QUIETLY = ['DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1'];
/** Packages conflict: what this machine has stays. */
const APT = ['apt-get', 'install', '-y', '-qq', '--no-install-recommends', '--no-remove'];

export type Needed = {
  name: string;
  isHere: () => boolean;
  debianPackage: string;
  /** Takes it from its package in another way than installing that. */
  unpack?: () => boolean;
};

const obtain = ({ isHere, unpack, debianPackage }: Needed): boolean =>
  isHere() || (unpack ? unpack() : run('env', ...QUIETLY, ...APT, debianPackage));

/** Obtains a program, or prints what is missing. Returns whether it is here. */
export const obtainProgram = (needed: Needed): boolean => {
  const isHere = obtain(needed);
  if (!isHere)
    console.log(
      `skipped: ${needed.name} is not here and could not be installed. As root on Debian or Ubuntu: ` +
        `apt-get update && apt-get install ${needed.debianPackage}`,
    );
  return isHere;
};

/** Runs tests with more options and settings (`NAME=value`). Returns the exit code. */
export const testFolder = (
  folder: string,
  { options = [], settings = [] }: { options?: string[]; settings?: string[] } = {},
): number => {
  const vitest = ['vitest', 'run', '--config', 'test/vitest.config.ts'];
  return run('env', ...settings, ...vitest, ...options, folder) ? 0 : 1;
};

/** Runs a folder of tests with a program; says what is missing where it cannot be had. Answers the exit code. */
export const testWithPackage = (folder: string, needed: Needed): number =>
  obtainProgram(needed) ? testFolder(folder) : 0;
