import type { Scope } from '../../base/db.ts';
import * as delivery from '../../delivery/delivery.ts';
import {
  deleteArmsOf,
  deleteEnrollmentsOf,
  deleteRefusalsOf,
  deleteRow,
  deleteRuns,
  deleteSegmentStarts,
} from './delete_queries.ts';

const cancelQueued = (scope: Scope, automationId: string, sendsMax: number): Promise<number> =>
  delivery.cancelQueued(scope, automationId, { stop: 'automation_deleted', sendsMax });

/**
 * In this order. Email goes before the run that planned it: once no run is left, none is queued any more. Sends, their
 * facts and timelines stay.
 */
const PARTS = [
  deleteSegmentStarts,
  deleteRefusalsOf,
  deleteEnrollmentsOf,
  deleteArmsOf,
  cancelQueued,
  deleteRuns,
];

/**
 * Deletes the next rows of an automation that is deleted: of one kind, so that a piece never holds locks of one kind
 * while it waits for another. The automation itself goes with a piece that finds nothing else.
 */
export const deletePiece = async (
  scope: Scope,
  automationId: string,
  rowsMax: number,
): Promise<{ changed: number; isMore: boolean }> => {
  for (const part of PARTS) {
    const changed = await part(scope, automationId, rowsMax);
    if (changed > 0) return { changed, isMore: true };
  }
  const { changed, isGone } = await deleteRow(scope, automationId, rowsMax);
  return { changed, isMore: !isGone };
};
