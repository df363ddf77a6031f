/**
 * Named places where a test may stop a process for good, to prove what a crash there does.
 *
 * Armed only by TEST_FAILPOINT, which src/config.ts refuses unless NODE_ENV is "test".
 */
const FAILPOINTS = [
  'before_hand_off_commit',
  'after_hand_off_commit',
  'mid_body',
  'after_provider_answer',
  'after_outcome_commit',
] as const;
export type Failpoint = (typeof FAILPOINTS)[number];

let armed: string | null = null;

/** Arms one failpoint for the life of the process, or none. Throws on a name that does not exist. */
export const armFailpoint = (name: string | null): void => {
  if (name !== null && !FAILPOINTS.includes(name as Failpoint)) {
    throw new Error(`unknown failpoint ${name}; there are: ${FAILPOINTS.join(', ')}`);
  }
  armed = name;
};

/** Kills the process with SIGKILL when this failpoint is armed; otherwise does nothing. */
export const failpoint = (name: Failpoint): void => {
  if (armed === name) process.kill(process.pid, 'SIGKILL');
};
