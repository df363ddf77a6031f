import type { Caller } from '../base/caller.ts';
import type { Deps } from '../base/deps.ts';
import type { Issue, Refusal } from '../base/refusal.ts';

/** A call that was refused, and its place in the request. */
export type Refused = { index: number; refusal: Refusal };

/**
 * Logs how many calls of a request were refused, by key and reason. These libraries discard answers, so the log is
 * where an operator finds missing events. It never holds what a call says.
 */
export const logRefused = (
  { deps, caller, keyId }: { deps: Pick<Deps, 'log'>; caller: Caller; keyId: string },
  refused: readonly Refused[],
  leftOut: readonly Issue[],
): void => {
  if (refused.length + leftOut.length === 0) return;
  const { projectId: project_id, kind: key_kind } = caller;
  const reasons = countEach(refused.map(nameOf));
  deps.log.warn(
    {
      project_id,
      key_id: keyId,
      key_kind,
      refused: refused.length,
      reasons,
      left_out: leftOut.length,
    },
    'Segment-compatible API: some calls were refused',
  );
};

/** Returns the name of a refusal and the member it is about, never what the member held. */
const nameOf = ({ refusal: { reason, extras } }: Refused): string => {
  const [, member] = extras.issues?.[0]?.path.split('/') ?? [];
  return member === undefined ? reason : `${reason} ${member}`;
};

const countEach = (names: readonly string[]): Record<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
};
