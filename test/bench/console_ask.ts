import { inHalves } from '../support/session.ts';
import { median } from './measure.ts';
import { pagesOf } from './console_pages.ts';
import type { Page } from './console_pages.ts';
import type { Subject } from './console_subject.ts';

export const ROUNDS = 5;
const ASKS = 3;
/** Until Postgres plans for whatever may be asked, which it does when it was asked the same some times. */
const WARM_UP_ASKS = 9;

/** Where the admin API is, and who asks it. */
export type Door = { base: string; cookie: string };

/** Asks for a page as the Console does; answers how many milliseconds it took. */
const ask = async ({ base, cookie }: Door, { procedure, input, isPost }: Page, of: Subject) => {
  const given = JSON.stringify({ projectId: of.projectId, ...input });
  const path = `${base}/admin/trpc/${procedure}`;
  const startedAt = performance.now();
  const response = await (isPost
    ? fetch(path, {
        method: 'POST',
        headers: { ...inHalves(cookie), origin: base, 'content-type': 'application/json' },
        body: given,
      })
    : fetch(`${path}?input=${encodeURIComponent(given)}`, { headers: inHalves(cookie) }));
  const answer = await response.text();
  const took = performance.now() - startedAt;
  if (!response.ok) throw new Error(`${procedure} ${given}: ${response.status} ${answer}`);
  return took;
};

/** What a page of both projects took, round by round, and the longest that anybody waited for the large one's. */
export type Taken = { page: Page; large: number[]; small: number[]; worst: number };

/** A page of each project in turn, so often. */
const askBoth = async (
  door: Door,
  [subjects, pages]: [Subject[], Page[]],
  asks: number,
): Promise<number[][]> => {
  const times: number[][] = subjects.map(() => []);
  for (let time = 0; time < asks; time += 1) {
    for (const [at, subject] of subjects.entries()) {
      const page = pages[at];
      if (page) times[at]?.push(await ask(door, page, subject));
    }
  }
  return times;
};

/** Every page of two projects, in turns, round by round; the first round warms up. */
export const takeTimes = async (
  door: Door,
  subjects: Subject[],
  pagesOfEach = subjects.map(pagesOf),
): Promise<Taken[]> => {
  const taken = (pagesOfEach[0] ?? []).map((page): Taken => ({
    page,
    large: [],
    small: [],
    worst: 0,
  }));
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [at, one] of taken.entries()) {
      const pages = pagesOfEach.flatMap((all) => all[at] ?? []);
      const asks = round < 0 ? WARM_UP_ASKS : ASKS;
      const [large = [], small = []] = await askBoth(door, [subjects, pages], asks);
      if (round < 0) continue;
      one.large.push(median(large));
      one.small.push(median(small));
      one.worst = Math.max(one.worst, ...large);
    }
  }
  return taken;
};

/** All pages, the slowest first. */
export const tell = (taken: readonly Taken[]): void => {
  console.log(`\n${'median'.padStart(8)} ${'worst'.padStart(8)} ${'small'.padStart(8)}  page`);
  for (const { page, large, small, worst } of taken.toSorted(
    (a, b) => median(b.large) - median(a.large),
  ))
    console.log(
      `${[median(large), worst, median(small)]
        .map((time) => time.toFixed(1).padStart(8))
        .join(' ')}  ${page.procedure}: ${page.about}`,
    );
};
