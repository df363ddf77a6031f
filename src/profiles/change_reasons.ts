import type { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Aspects } from './aspects.ts';

/**
 * Why a person changed, where it was nothing fresh: a link that brought the identity of a device, whose own profile is
 * named; the undo of a link; events that made the person and that were received so long after they occurred.
 */
export type ChangeReason =
  { kind: 'link'; own_profile_id: string } | { kind: 'undo' } | { kind: 'made'; lag_ms: number };

/** What a note of people who changed says, besides who they are. */
export type ChangeNote = {
  /** Who caused the changes; null where that is not known. */
  source?: 'server' | 'browser' | null;
  /** Why each of the people changed, in their order; null or a missing one stands for something fresh. */
  reasons?: readonly z.core.util.JSONType[];
  /** What changed of each of them, in their order; null or a missing one stands for anything. */
  aspects?: readonly Aspects[];
};

export const UNDO: ChangeReason = { kind: 'undo' };

/** Returns documents as an argument of a function; null stays null. */
const documents = (all: readonly unknown[]) =>
  sql.array(
    all.map((one) => (one === null ? null : JSON.stringify(one))),
    'jsonb',
  );

/** Returns reasons as an argument of a function; null stands for something fresh. */
export const reasonsColumn = (reasons: readonly z.core.util.JSONType[]) => documents(reasons);

/** Returns aspects as an argument of a function; null stands for anything. */
export const aspectsColumn = (aspects: readonly Aspects[]) => documents(aspects);
