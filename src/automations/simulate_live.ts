import type { Deps } from '../base/deps.ts';
import type { Kept } from './queries.ts';
import { simulate } from './simulate.ts';
import type { Progress } from './simulate.ts';
import type { Simulation } from './simulation.ts';

type Asked = { days: number; version: number; over: AbortSignal };
type Told = ({ kind: 'progress' } & Progress) | { kind: 'done'; simulation: Simulation };

/** A simulation that says how far it is, and ends when nobody waits for it any more. Tells its result last. */
export async function* simulateLive(
  deps: Pick<Deps, 'db' | 'keys'>,
  projectId: string,
  kept: Kept,
  { days, version, over }: Asked,
): AsyncGenerator<Told, void> {
  let next = Promise.withResolvers<Progress>();
  const tell = (progress: Progress): void => next.resolve(progress);
  const done = simulate(deps, projectId, kept, { days, version, onlooker: { tell, over } });
  // Whoever left does not wait for how it ends.
  done.catch(() => {});
  for (;;) {
    const told = await Promise.race([next.promise, done]);
    if (!('followed' in told)) return yield { kind: 'done', simulation: told };
    next = Promise.withResolvers();
    yield { kind: 'progress', ...told };
  }
}
