// A note of a change says what changed of the person, or that anything may have.
import { beforeEach, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { alias, identify } from '../../src/profiles/identify.ts';
import {
  aspectOf,
  changeAddresses,
  noteChanges,
  takeChanges,
} from '../../src/profiles/profiles.ts';
import { countedBy, isOfEvents } from '../../src/segments/conditions.ts';
import { importPeople, undoImport } from '../../src/segments/import_people.ts';
import { createSegment } from '../../src/segments/segments.ts';
import { suppress, unsubscribe } from '../../src/suppression/suppression.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { create, ordered, refreshOn } from './recount.ts';

const database = testDatabase();
const ADDRESS = 'ann@example.com';
/** As many aspects as a note has. */
const ASPECTS_MAX = 50;
let projectId = '';

const tell = (traits: Record<string, string | null>, external_id = 'ann') =>
  identify(database.deps, { projectId, kind: 'server' }, { external_id, traits });
const take = () => inProject(database.deps, projectId, (scope) => takeChanges(scope, 1_000));
/** Returns what changed of each person who changed since the last call. */
const takeAspects = async () =>
  [...(await take()).values()].map(({ aspects }) => aspects?.toSorted((a, b) => a - b) ?? null);
const numbersOf = (...named: Parameters<typeof aspectOf>[]) =>
  named.map((one) => aspectOf(...one)).toSorted((a, b) => a - b);

beforeEach(async () => {
  projectId = newId();
  await create(database, projectId, { kind: 'trait', trait: 'plan', test: { is: 'exists' } });
  await refreshOn(database, projectId);
  await tell({ email: ADDRESS, plan: 'pro', size: 'M' });
  await take();
});

test('of traits, those whose value is another one, gone or new', async () => {
  await tell({ plan: 'free', size: 'M' });
  await tell({ pet: 'cat', size: null });
  expect(await takeAspects()).toEqual([
    numbersOf(['trait', 'plan'], ['trait', 'pet'], ['trait', 'size']),
  ]);
});

test('another address may change anything, and so may a link and a new person', async () => {
  await tell({ email: 'other@example.com' });
  expect(await takeAspects()).toEqual([null]);
  await tell({ plan: 'free' }, 'bob');
  expect(await takeAspects()).toEqual([null]);
  await alias(
    database.deps,
    { projectId, kind: 'server' },
    { anonymous_id: 'phone', external_id: 'ann' },
  );
  expect(new Set(await takeAspects())).toEqual(new Set([null]));
});

test('what is noted of a person adds up, and a note that says nothing stands for anything', async () => {
  await tell({ plan: 'free' });
  const [id = ''] = [...(await take()).keys()];
  const note = (...aspects: (number[] | null)[]) =>
    inProject(database.deps, projectId, (scope) =>
      noteChanges(
        scope,
        aspects.map(() => id),
        { aspects },
      ),
    );
  await note([1, 2], [3], []);
  expect(await takeAspects()).toEqual([[1, 2, 3]]);
  await note([1], null);
  expect(await takeAspects()).toEqual([null]);
});

test.each([
  [ASPECTS_MAX, false],
  [ASPECTS_MAX + 1, true],
])('%s traits at once may be anything: %s', async (count, isAnything) => {
  await tell(Object.fromEntries(Array.from({ length: count }, (_, at) => [`trait-${at}`, 'a'])));
  const [aspects] = await takeAspects();
  expect([aspects === null, aspects?.length ?? count]).toEqual([isAnything, count]);
});

test('of tags, those that came or went', async () => {
  const change = (work: (scope: Scope) => Promise<unknown>) =>
    inProject(database.deps, projectId, (scope) => changeAddresses(scope, [ADDRESS], work));
  const said = { email: ADDRESS, source: 'test' };
  await change((scope) => unsubscribe(scope, said));
  expect(await takeAspects()).toEqual([numbersOf(['tag', 'unsubscribed'])]);
  await change((scope) => suppress(scope, { ...said, reason: 'manual' }));
  expect(await takeAspects()).toEqual([numbersOf(['tag', 'suppressed'])]);
});

test('a list that comes or is taken back', async () => {
  const [segmentId, importId] = [newId(), newId()];
  await inProject(database.deps, projectId, (scope) =>
    createSegment(scope, { segmentId, name: 'a', definition: null }),
  );
  const people = [{ external_id: 'ann' }];
  await inProject(database.deps, projectId, (scope) =>
    importPeople(scope, { segmentId, importId }, { people }),
  );
  expect(await takeAspects()).toEqual([numbersOf(['list', segmentId])]);
  await inProject(database.deps, projectId, (scope) => undoImport(scope, importId));
  expect(await takeAspects()).toEqual([numbersOf(['list', segmentId])]);
});

test('of what is counted, the counters that each person’s events moved', async () => {
  const conditions = [ordered(7), { ...ordered(), event: 'page_viewed' }];
  for (const one of conditions) await create(database, projectId, one);
  await tell({ plan: 'pro' }, 'bob');
  await refreshOn(database, projectId);
  const events = [
    ['ann', 'order_completed'],
    ['bob', 'order_completed'],
    ['bob', 'page_viewed'],
    ['bob', 'unheard_of'],
  ].map(([external_id = '', name = '']) => newEvent({ external_id, name }));
  await acceptEvents(database.deps.db, projectId, newId(), events);
  await workOn(database, projectId);
  const counters = conditions.filter(isOfEvents).map((one) => countedBy(one).conditionId);
  const [ofOrders = '', ofPages = ''] = counters;
  expect(new Set(await takeAspects())).toEqual(
    new Set([
      numbersOf(['counter', ofOrders]),
      numbersOf(['counter', ofOrders], ['counter', ofPages]),
    ]),
  );
});
