import { createHash } from 'node:crypto';
import type { Take } from '../world.ts';

const HASH_BYTES = 6;

/** A number in [0, 1) that is always the same for a person at a step of an automation. */
const placeOf = (...parts: string[]): number =>
  createHash('sha256').update(parts.join(' ')).digest().readUIntBE(0, HASH_BYTES) /
  2 ** (8 * HASH_BYTES);

/**
 * Sends people different ways, by weight: one person always the same way, whenever and however often they are enrolled,
 * also after a merge.
 */
export const split: Take<'split'> = async ({ run, stepId, reader }, { ways }) => {
  const profileId = await reader.armOf(stepId);
  const total = ways.reduce((sum, { weight }) => sum + weight, 0);
  let rest = placeOf(run.automation_id, stepId, profileId) * total;
  const way = ways.find(({ weight }) => (rest -= weight) < 0) ?? ways.at(-1);
  const detail = { way: way?.name ?? '', profile_id: profileId };
  if (way?.is_holdout) return { kind: 'leaves', outcome: 'held_out', decision: 'held_out', detail };
  return { kind: 'goes_on', next: way?.next ?? null, decision: 'split', detail };
};
