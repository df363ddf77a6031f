import { isTrue } from '../conditions.ts';
import type { Take } from '../world.ts';

/** Goes the first way whose condition holds. */
export const branch: Take<'branch'> = async (walk, { branches, otherwise }) => {
  for (const [at, { when, next }] of branches.entries()) {
    if (await isTrue(walk, when))
      return { kind: 'goes_on', next, decision: 'branched', detail: { branch: String(at + 1) } };
  }
  return {
    kind: 'goes_on',
    next: otherwise,
    decision: 'branched',
    detail: { branch: 'otherwise' },
  };
};
