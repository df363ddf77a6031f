import type { InfiniteData } from '@tanstack/react-query';
import type { Outputs, Send } from './api.ts';
import type { SendFilter } from './queries.ts';

type Page = Outputs['sends']['list'];
type Pages = InfiniteData<Page>;

/** Whether not all sends are asked for. */
export const isFiltered = (filter: SendFilter): boolean =>
  Object.values(filter).some((wanted) => wanted !== undefined);

const fits = ({ status, to, automation_id }: Send, filter: SendFilter): boolean =>
  (filter.automation === undefined || automation_id === filter.automation) &&
  (filter.status === undefined || status === filter.status) &&
  (filter.email === undefined || to?.toLowerCase() === filter.email.trim().toLowerCase());

/** Ids are made in the order of time, so the newest is the greatest. */
const newestFirst = (left: Send, right: Send): number => (left.id < right.id ? 1 : -1);

/** The page that something as old as this belongs on; none where it is older than what was read so far. */
const pageFor = (pages: readonly Page[], { id }: Send): Page | undefined =>
  pages.find(
    ({ items, next_cursor }) => next_cursor === null || items.some((known) => known.id < id),
  );

/**
 * The pages that are read with the newest sends as they stand now: what is known is told anew, what is new comes in
 * its place, and what fits the filter no longer goes. Where more has come than is told, all that is known is too old.
 */
export const mergeSends = (known: Pages, told: Page, filter: SendFilter): Pages => {
  const ids = new Set(known.pages.flatMap(({ items }) => items.map(({ id }) => id)));
  const isTooOld = told.next_cursor !== null && !told.items.some(({ id }) => ids.has(id));
  if (isTooOld && !isFiltered(filter)) return { pages: [told], pageParams: [undefined] };
  const now = new Map(told.items.map((send) => [send.id, send]));
  const coming = told.items.filter((send) => !ids.has(send.id) && fits(send, filter));
  const pages = known.pages.map((page) => ({
    ...page,
    items: [
      ...page.items.map((send) => now.get(send.id) ?? send),
      ...coming.filter((send) => pageFor(known.pages, send) === page),
    ]
      .filter((send) => !now.has(send.id) || fits(send, filter))
      .toSorted(newestFirst),
  }));
  return { ...known, pages };
};
