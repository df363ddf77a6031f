import { createHash } from 'node:crypto';

/** What of a person may change: a trait, a tag, a counter of a condition, a list of imports; by name or id. */
export type AspectKind = 'trait' | 'tag' | 'counter' | 'list';

/**
 * Aspects of a person that changed, by their numbers; null where anything may have changed. A definition that reads
 * none of them says the same of the person as before.
 */
export type Aspects = readonly number[] | null;

/** Returns the number of an aspect, by the same rule as `profiles.aspect`. */
export const aspectOf = (kind: AspectKind, name: string): number =>
  createHash('sha256').update(`${kind}:${name}`).digest().readInt32BE(0);
