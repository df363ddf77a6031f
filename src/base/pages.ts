/**
 * Reads page after page until one is not full; each `read` is told the last row of the page before.
 * Nothing is read ahead, and nothing is held between two pages.
 */
export async function* pagesOf<Row>(
  limit: number,
  read: (last: Row | null) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for (let last: Row | null = null; ;) {
    const page = await read(last);
    if (page.length > 0) yield page;
    last = page.at(-1) ?? null;
    if (page.length < limit) return;
  }
}

/** Reads page after page for what reading them does. */
export const walkPages = async <Row>(
  limit: number,
  read: (last: Row | null) => Promise<readonly Row[]>,
): Promise<void> => {
  const pages = pagesOf(limit, read);
  while (!(await pages.next()).done);
};
