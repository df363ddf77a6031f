import { fillSegments, refreshPeople } from '../../src/segments/segments.ts';
import { fillNextPiece, refreshNextPeople } from '../../src/segments/turn.ts';

/** Brings the segments of a project up to date, as the jobs of a worker do. Returns whether there is more to do. */
export const refreshSegments = async (
  ...given: Parameters<typeof refreshPeople>
): Promise<boolean> => {
  const isMore = await refreshPeople(...given);
  const isFilling = await fillSegments(...given);
  // A fill may change what other segments ask about.
  return (await refreshPeople(...given)) || isFilling || isMore;
};

/** Does one piece of each of the two jobs. Returns whether there may be more to do. */
export const takeTurn = async (
  ...given: Parameters<typeof refreshNextPeople>
): Promise<boolean> => {
  const isMore = await refreshNextPeople(...given);
  return (await fillNextPiece(...given)) || isMore;
};
