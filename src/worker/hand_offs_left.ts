import type { Deps } from '../base/deps.ts';
import { listQueues } from '../base/memory_queues.ts';

/** Most hand-offs are answered before that, and nobody needs to know of them. */
export const LEFT_TOLD_AFTER_MS = 3_000;
const LOOK_EVERY_MS = 500;

/**
 * Tells how many hand-offs a process that stops still waits for: after some seconds, and again only when that
 * has changed. Of none it says nothing.
 */
export const tellHandOffsLeft = (
  deps: Pick<Deps, 'resources'>,
  tell: (handOffs: number) => void,
): void => {
  // Whatever closes meanwhile: what is under way is under way.
  const queues = listQueues(deps);
  let told = 0;
  const look = (): void => {
    const left = queues.get('hand_offs')?.size() ?? 0;
    if (left > 0 && left !== told) tell(left);
    told = left;
  };
  setTimeout(() => {
    look();
    setInterval(look, LOOK_EVERY_MS).unref();
  }, LEFT_TOLD_AFTER_MS).unref();
};
