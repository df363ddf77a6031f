import type { z } from 'zod';
import { sql } from '../base/db.ts';

/**
 * Why a person changed, where it was nothing fresh: a link that brought the identity of a device, whose own profile is
 * named; the undo of a link; events that made the person and that were received so long after they occurred.
 */
export type ChangeReason =
  { kind: 'link'; own_profile_id: string } | { kind: 'undo' } | { kind: 'made'; lag_ms: number };

export const UNDO: ChangeReason = { kind: 'undo' };

/** Returns reasons as an argument of a function; null stands for something fresh. */
export const reasonsColumn = (reasons: readonly z.core.util.JSONType[]) =>
  sql.array(
    reasons.map((reason) => (reason === null ? null : JSON.stringify(reason))),
    'jsonb',
  );
