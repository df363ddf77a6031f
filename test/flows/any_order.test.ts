import fc from 'fast-check';
import { test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { inRooms } from '../support/script/in_rooms.ts';
import {
  linksAsTheModelSays,
  replacedIsRestored,
  serverWinsInAnyOrder,
} from '../support/script/link_properties.ts';
import { sameInAnyOrder, stormKeepsOrder, undoneIsNever } from '../support/script/properties.ts';

const RUNS = 30;
/** Of what takes longer. */
const FEWER_RUNS = 15;
const TEST_TIMEOUT_MS = 120_000;

const stage = inRooms(testDatabase());

test(
  'the same events, links and traits in any order, with duplicates, two at a time, give the same people',
  { timeout: TEST_TIMEOUT_MS },
  () => fc.assert(sameInAnyOrder(stage), { numRuns: RUNS }),
);

test(
  'a link that is undone leaves what there would be without it, including what came meanwhile',
  { timeout: TEST_TIMEOUT_MS },
  () => fc.assert(undoneIsNever(stage), { numRuns: RUNS }),
);

test(
  'whatever is linked, undone, told and done at once, every profile is the fold of its identities',
  { timeout: TEST_TIMEOUT_MS },
  () => fc.assert(stormKeepsOrder(stage), { numRuns: RUNS }),
);

test(
  'a server’s word of a device counts, in whatever order it and a browser’s come',
  { timeout: TEST_TIMEOUT_MS },
  () => fc.assert(serverWinsInAnyOrder(stage), { numRuns: FEWER_RUNS }),
);

test(
  'a server’s link that replaced a browser’s and is undone leaves what there would be without it',
  { timeout: TEST_TIMEOUT_MS },
  () => fc.assert(replacedIsRestored(stage), { numRuns: FEWER_RUNS }),
);

test(
  'links stand as a model of servers, browsers, undos and limits says',
  { timeout: TEST_TIMEOUT_MS },
  () => fc.assert(linksAsTheModelSays(stage), { numRuns: FEWER_RUNS }),
);
