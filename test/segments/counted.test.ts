// How many are in a segment, and who came and went by day: so far as it is counted, and whether there is more.
import { beforeAll, expect, test } from 'vitest';
import { countedOfEach } from '../../src/base/counted_of_each.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { COUNTED_MEMBERS, readDays, withMembers } from '../../src/segments/counted.ts';
import { findSegment } from '../../src/segments/record_queries.ts';
import { SEGMENTS_MAX } from '../../src/segments/records.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const segmentId = newId();
const MEMBERS = 12;
/** How many of them came a day ago; the others did today. */
const YESTERDAY = 4;
let projectId: string;

beforeAll(async () => {
  projectId = (await createProject(database.deps, 'test')).project_id;
  const ask = (text: string, values: unknown[]) => database.owner.query(text, values);
  await ask("select set_config('trunkline.project_id', $1, false)", [projectId]);
  await ask(
    `insert into segments.segments (project_id, segment_id, name, kind, status, version, created_at, updated_at)
     values ($1, $2, 'a', 'static', 'ready', 1, now(), now())`,
    [projectId, segmentId],
  );
  await ask(
    `insert into profiles.profiles (project_id, profile_id, created_at, updated_at)
     select $1, gen_random_uuid(), now(), now() from generate_series(1, $2::int)`,
    [projectId, MEMBERS],
  );
  await ask(
    `insert into segments.members (project_id, segment_id, profile_id, entered_at)
     select project_id, $2, profile_id, now() from profiles.profiles where project_id = $1`,
    [projectId, segmentId],
  );
  await ask(
    `insert into segments.history (project_id, entry, segment_id, version, profile_id, change, cause, changed_at)
     select project_id, place, $2, 1, profile_id, 'entered', 'change',
       now() - case when place <= $3::int then interval '1 day' else interval '0' end
     from (
       select profile.*, row_number() over () as place from profiles.profiles as profile where project_id = $1
     ) as numbered`,
    [projectId, segmentId, YESTERDAY],
  );
});

test.each([
  [MEMBERS + 1, MEMBERS, false],
  [MEMBERS, MEMBERS, false],
  [MEMBERS - 1, MEMBERS - 1, true],
])('counted up to %i there are %i', async (membersMax, members, isCapped) => {
  const [shown] = await inProject(database.deps, projectId, async (scope) => {
    const row = await findSegment(scope, segmentId);
    return withMembers(scope, row ? [row] : [], membersMax);
  });
  expect(shown).toMatchObject({ id: segmentId, members, is_capped: isCapped });
});

test.each([
  [MEMBERS + 1, [YESTERDAY, MEMBERS - YESTERDAY], false],
  [MEMBERS, [YESTERDAY, MEMBERS - YESTERDAY], true],
  [MEMBERS - 1, [YESTERDAY - 1, MEMBERS - YESTERDAY], true],
  [MEMBERS - YESTERDAY, [MEMBERS - YESTERDAY], true],
])('of the last %i changes each day has its own', async (entriesMax, entered, isCapped) => {
  const days = await inProject(database.deps, projectId, (scope) =>
    readDays(scope, segmentId, entriesMax),
  );
  expect(days.items.map((day) => day.entered)).toEqual(entered);
  expect(days.is_capped).toBe(isCapped);
});

test.each([
  [0, COUNTED_MEMBERS.each],
  [2, COUNTED_MEMBERS.each],
  [6, 33_333],
  [SEGMENTS_MAX, 2_000],
])(
  'of %i segments a list counts %i members each, and no more rows for more of them',
  (many, each) => {
    expect(countedOfEach(COUNTED_MEMBERS, many)).toBe(each);
    expect(many * each).toBeLessThanOrEqual(COUNTED_MEMBERS.together);
  },
);
