// Pages of a timeline while events arrive, whoever they are of and whenever they occurred.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { linkPeople } from '../../src/profiles/profiles.ts';
import { EFFORT, pageTimeline } from '../../src/profiles/timeline.ts';
import type { TimelineQuery } from '../../src/profiles/timeline.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';

const database = testDatabase();
const NEWEST = Date.now();
const DAY_MS = 86_400_000;
/** Few moments in a few months, so that many are equal, some a millisecond apart, some at the end of a month. */
const moment = fc
  .tuple(fc.constantFrom(0, 1, 12, 40, 200, 201, 500), fc.integer({ min: 0, max: 2 }))
  .map(([days, milliseconds]) => new Date(NEWEST - days * DAY_MS - milliseconds).toISOString());
const WHO = [
  { external_id: 'ann', anonymous_id: null },
  { external_id: 'ann', anonymous_id: 'phone' },
  { external_id: null, anonymous_id: 'phone' },
  { external_id: null, anonymous_id: 'laptop' },
  { external_id: null, anonymous_id: 'stranger' },
] as const;
const event = fc.record({
  who: fc.constantFrom(...WHO),
  name: fc.constantFrom('common', 'common', 'common', 'rare'),
  occurredAt: moment,
  source: fc.constantFrom<Source>('browser', 'server', 'system', 'system'),
});
type Source = 'browser' | 'server' | 'system';
type Event = { who: (typeof WHO)[number]; name: string; occurredAt: string; source?: Source };

const accept = async (projectId: string, events: Event[]): Promise<string[]> => {
  const rows = events.map(({ who, name, occurredAt, source = 'server' }) =>
    newEvent({ ...who, name, event_id: newId(), occurred_at: occurredAt, source }),
  );
  if (rows.length > 0) await acceptEvents(database.deps.db, projectId, newId(), rows);
  return rows
    .filter(({ external_id, anonymous_id }) => external_id ?? anonymous_id !== 'stranger')
    .map(({ event_id }) => event_id);
};
const processAll = (projectId: string): Promise<void> => workOn(database, projectId);

/** Ann, whom every device but the stranger's was linked to, last seen so many days ago. */
const newAnn = async (seenDaysAgo = 0): Promise<{ projectId: string; profileId: string }> => {
  const projectId = newId();
  const occurredAt = new Date(Date.now() - seenDaysAgo * DAY_MS).toISOString();
  await accept(
    projectId,
    WHO.map((who) => ({ who, name: 'seen', occurredAt })),
  );
  await processAll(projectId);
  await database.owner.query('delete from ingest.events where project_id = $1', [projectId]);
  return inProject(database.deps, projectId, async (scope) => {
    for (const anonymous_id of ['phone', 'laptop'])
      await linkPeople(scope, {
        anonymous_id,
        external_id: 'ann',
        source: 'alias',
        key_type: 'server',
      });
    const found = await identity.findByValue(scope, 'external', 'ann');
    return { projectId, profileId: found?.profile_id ?? '' };
  });
};

type Ann = Awaited<ReturnType<typeof newAnn>>;
const pageOf = ({ projectId, profileId }: Ann, query: TimelineQuery, effort = EFFORT) =>
  inProject(database.deps, projectId, (scope) => pageTimeline(scope, profileId, query, effort));

/** Every page after another; between them, something happens. */
const walk = async (
  ann: Ann,
  query: TimelineQuery,
  { effort = EFFORT, between = async () => {} }: Partial<Walking> = {},
) => {
  const pages = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await pageOf(ann, { ...query, cursor }, effort);
    pages.push(page.items);
    cursor = page.next_cursor;
    await between();
  }
  return pages;
};
type Walking = { effort: typeof EFFORT; between: () => Promise<void> };

const scenario = fc.record({
  seenDaysAgo: fc.constantFrom(0, 12, 500),
  before: fc.array(event, { maxLength: 60 }),
  waiting: fc.array(event, { maxLength: 20 }),
  between: fc.array(fc.tuple(fc.array(event, { maxLength: 6 }), fc.boolean()), { maxLength: 8 }),
  limit: fc.integer({ min: 1, max: 12 }),
  name: fc.constantFrom('common', 'rare', 'never', undefined),
  effort: fc.constantFrom(
    EFFORT,
    { eventsPerStatement: 1, eventsPerPageMax: 1 },
    { eventsPerStatement: 7, eventsPerPageMax: 10 },
  ),
});

const play = async (given: typeof scenario extends fc.Arbitrary<infer T> ? T : never) => {
  const ann = await newAnn(given.seenDaysAgo);
  const isWanted = ({ name }: Event): boolean => given.name === undefined || name === given.name;
  const expected = await accept(ann.projectId, given.before.filter(isWanted));
  await accept(
    ann.projectId,
    given.before.filter((one) => !isWanted(one)),
  );
  await processAll(ann.projectId);
  const later = await accept(ann.projectId, given.waiting.filter(isWanted));
  const toCome = [...given.between];
  const between = async (): Promise<void> => {
    const [arriving = [], isProcessed = false] = toCome.shift() ?? [];
    const wanted = await accept(ann.projectId, arriving.filter(isWanted));
    later.push(...wanted);
    await accept(
      ann.projectId,
      arriving.filter((one) => !isWanted(one)),
    );
    if (isProcessed) await processAll(ann.projectId);
  };
  const { limit, name, effort } = given;
  const pages = await walk(ann, { limit, event: name }, { effort, between });
  await processAll(ann.projectId);
  const atLast = (await walk(ann, { limit: 50, event: name })).flat().map(({ id }) => id);
  return { expected, all: [...expected, ...later], atLast, entries: pages.flat(), pages };
};

test('every event that was processed appears once, in order, whatever arrives between two pages', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const { expected, all, atLast, entries, pages } = await play(given);
      // In the end all are there; of those that waited or arrived meanwhile each was there once or not yet.
      expect(atLast.toSorted()).toEqual(all.toSorted());
      expect(entries.filter(({ id }) => !all.includes(id))).toEqual([]);
      const seen = entries.map(({ id }) => id);
      expect(new Set(seen).size).toBe(seen.length);
      expect(expected.filter((id) => !seen.includes(id))).toEqual([]);
      const order = entries.map(({ occurred_at, id }) => `${occurred_at} ${id}`);
      expect(order).toEqual(order.toSorted().toReversed());
      for (const { event: name, anonymous_id, external_id } of entries) {
        expect(given.name ?? name).toBe(name);
        expect(external_id ?? anonymous_id).not.toBe('stranger');
      }
      for (const [at, page] of pages.entries()) {
        expect(page.length).toBeLessThanOrEqual(given.limit);
        const isLast = at === pages.length - 1;
        if (given.name === undefined && !isLast) expect(page).toHaveLength(given.limit);
      }
    }),
    { numRuns: 60 },
  );
}, 120_000);

test('what occurred just now is there before it was processed, be the person unseen for years', async () => {
  const [who] = WHO;
  const projectId = newId();
  const at = (days: number): string => new Date(NEWEST - days * DAY_MS).toISOString();
  const [old] = await accept(projectId, [{ who, name: 'old', occurredAt: at(600) }]);
  await processAll(projectId);
  const profileId = await inProject(database.deps, projectId, async (scope) => {
    const found = await identity.findByValue(scope, 'external', who.external_id);
    return found?.profile_id ?? '';
  });
  const [fresh] = await accept(projectId, [{ who, name: 'fresh', occurredAt: at(0) }]);
  const { items } = await pageOf({ projectId, profileId }, { limit: 10 });
  expect(items.map((item) => item.id)).toEqual([fresh, old]);
});

test('what was observed of somebody is there in months when they were not', async () => {
  const ann = await newAnn(600);
  const [who] = WHO;
  const mailed = [450, 200, 10].map((days) => new Date(NEWEST - days * DAY_MS).toISOString());
  for (const occurredAt of mailed) {
    await accept(ann.projectId, [{ who, name: 'email_sent', occurredAt, source: 'system' }]);
    await processAll(ann.projectId);
  }
  const { items } = await pageOf(ann, { limit: 10 });
  expect(items.map(({ occurred_at }) => occurred_at)).toEqual(mailed.toReversed());
});

test('an event of years ago is there once it was processed', async () => {
  const ann = await newAnn();
  const [who] = WHO;
  const occurredAt = new Date(NEWEST - 600 * DAY_MS).toISOString();
  const [id] = await accept(ann.projectId, [{ who, name: 'old', occurredAt }]);
  await processAll(ann.projectId);
  const { items } = await pageOf(ann, { limit: 10 });
  expect(items.map((item) => item.id)).toEqual([id]);
});

test('a page of a rare event ends when it has looked at enough, and the next goes on from there', async () => {
  const ann = await newAnn();
  const [who] = WHO;
  const at = (step: number): string => new Date(NEWEST - 30 * DAY_MS - step * 1_000).toISOString();
  const events = Array.from({ length: 390 }, (_, step) => ({
    who,
    name: step === 0 || step === 389 ? 'rare' : 'common',
    occurredAt: at(step),
  }));
  await accept(ann.projectId, events);
  await processAll(ann.projectId);
  const effort = { eventsPerStatement: 50, eventsPerPageMax: 100 };
  const pages = await walk(ann, { limit: 10, event: 'rare' }, { effort });
  expect(pages.map((page) => page.map(({ occurred_at }) => occurred_at))).toEqual([
    [at(0)],
    [],
    [],
    [at(389)],
  ]);
});

test.each([9, 10, 11, 12, 35])(
  '%i events of one moment are there once each, on pages of ten, in the order of their ids',
  async (count) => {
    const ann = await newAnn();
    const [who] = WHO;
    const occurredAt = new Date(NEWEST - 30 * DAY_MS).toISOString();
    const events = Array.from({ length: count }, () => ({ who, name: 'imported', occurredAt }));
    const ids = await accept(ann.projectId, events);
    await processAll(ann.projectId);
    const pages = await walk(ann, { limit: 10 });
    expect(pages.flat().map(({ id }) => id)).toEqual(ids.toSorted().toReversed());
    expect(pages).toHaveLength(Math.ceil(count / 10));
  },
);
