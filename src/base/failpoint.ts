/**
 * Named places where a test may stop a process for good, to prove what a crash there does.
 *
 * Armed only by TEST_FAILPOINT, which src/config.ts refuses unless NODE_ENV is "test".
 */
const FAILPOINTS = [
  'before_plan_commit',
  'before_hand_off_commit',
  'after_hand_off_commit',
  'after_not_begun',
  'mid_body',
  'after_provider_answer',
  'after_outcome_commit',
  'after_erase_step',
  'before_erase_done',
] as const;
export type Failpoint = (typeof FAILPOINTS)[number];

const SIGNALS = ['SIGKILL', 'SIGSTOP'] as const;

let armed: { name: string; signal: NodeJS.Signals } | null = null;

/**
 * Arms one failpoint, or none: `name` or `name:SIGSTOP`, once; SIGKILL where no signal is given.
 * Throws on a name or a signal that does not exist.
 */
export const armFailpoint = (spec: string | null): void => {
  const [name = '', signal = 'SIGKILL'] = spec?.split(':') ?? [];
  if (spec !== null && !FAILPOINTS.includes(name as Failpoint)) {
    throw new Error(`unknown failpoint ${name}; there are: ${FAILPOINTS.join(', ')}`);
  }
  if (!SIGNALS.includes(signal as (typeof SIGNALS)[number])) {
    throw new Error(`a failpoint sends ${SIGNALS.join(' or ')}, not ${signal}`);
  }
  armed = spec === null ? null : { name, signal: signal as NodeJS.Signals };
};

/** Returns whether this failpoint is armed. */
export const isArmed = (name: Failpoint): boolean => armed?.name === name;

/** Kills or freezes the process when this failpoint is armed; otherwise does nothing. */
export const failpoint = (name: Failpoint): void => {
  if (armed?.name !== name) return;
  const { signal } = armed;
  armed = null;
  process.kill(process.pid, signal);
};
