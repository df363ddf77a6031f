import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
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

const database = testDatabase();
const stage = inRooms(database);

/** Profiles that keep other names than those of the traits that only browsers asserted of their identities. */
const WRONG_NAMES = `
  select profile.profile_id, profile.browser_names, named.keys
  from profiles.profiles as profile
  cross join lateral (
    select coalesce(array_agg(winner.key order by winner.key collate "C")
      filter (where winner.authority = 'publishable' and winner.value <> 'null'), '{}') as keys
    from (
      select distinct on (trait.key) trait.key, trait.value, trait.authority
      from identity.identities as known join profiles.traits as trait using (project_id, identity_id)
      where known.project_id = profile.project_id and known.profile_id = profile.profile_id
      order by trait.key, trait.authority = 'server' desc, trait.set_at desc, trait.value::text collate "C" desc
    ) as winner
  ) as named
  where profile.browser_names is distinct from named.keys
`;
afterEach(async () => {
  const { rows } = await database.owner.query(WRONG_NAMES);
  expect(rows, 'names of traits that only browsers asserted').toEqual([]);
});

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
