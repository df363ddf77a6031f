import type { SuppressionReason, Word } from './queries.ts';

type Said = { reason: string; since: Date; importId: string | null };

const isLifted = (said: Said, words: readonly Word[]): boolean =>
  words.some((lift) => {
    if (lift.change !== 'released') return false;
    if (lift.import_id !== null) return lift.import_id === said.importId;
    return lift.changed_at >= said.since && (said.reason !== 'complaint' || lift.lifts_complaints);
  });

/** The latest word of one kind or its opposite. */
const latest = (words: readonly Word[], ...changes: Word['change'][]): Word | undefined =>
  words.findLast(({ change }) => changes.includes(change));

/**
 * What an address was left alone for at a moment, by what had become so until then: the rule of
 * `suppression.standing_reasons`, over a part of the history.
 */
export const reasonsAt = (
  all: readonly Word[],
  at: Date,
): (SuppressionReason | 'unsubscribed')[] => {
  const words = all.filter(({ changed_at }) => changed_at <= at);
  const soft = latest(words, 'soft_bounced', 'soft_recovered');
  const said: Said[] = [
    ...words.flatMap(({ change, reason, changed_at: since, import_id: importId }) =>
      change === 'suppressed' && reason !== null ? [{ reason, since, importId }] : [],
    ),
    ...(soft?.change === 'soft_bounced'
      ? [{ reason: 'soft_bounces', since: soft.changed_at, importId: null }]
      : []),
  ];
  const standing = said.filter((one) => !isLifted(one, words)).map(({ reason }) => reason);
  // Of one moment the unsubscribe counts.
  const [left, back] = [latest(words, 'unsubscribed'), latest(words, 'resubscribed')];
  const isOut = left && (!back || left.changed_at >= back.changed_at);
  return [
    ...([...new Set(standing)].toSorted() as SuppressionReason[]),
    ...(isOut ? (['unsubscribed'] as const) : []),
  ];
};
