import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { listIdentities, watch } from '../../src/profiles/profiles.ts';
import { identify } from '../../src/profiles/identify.ts';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const CONDITION = newId();
const DAY = '2026-05-20';
const DAY_AT = Date.parse(DAY) / 86_400_000;
const at = (hour: number) => new Date(Date.UTC(2026, 4, 20, hour));

type Counted = { who: string; isByServer?: boolean; count: number; late: number };

const know = async (projectId: string, value: string) => {
  await identify(database.deps, { projectId, kind: 'server' }, { external_id: value });
  const [known] = await inProject(database.deps, projectId, (scope) =>
    listIdentities(scope, [{ kind: 'external', value }]),
  );
  if (!known) throw new Error('no identity');
  return known;
};

/** Notes people with counted events. Late ones were received an hour after they occurred. */
const note = async (projectId: string, changedIds: string[], counted: readonly Counted[]) => {
  const client = await connectTo(database, projectId);
  await client.query(
    `select segments.note_counted(project_id => $1, changed_ids => $2, kinds => $3, identifiers => $4,
      by_servers => $5, condition_ids => $6, days => $7, counts => $8, late_counts => $9, late_firsts => $10,
      late_lasts => $11, late_lags => $12)`,
    [
      projectId,
      changedIds,
      counted.map(() => 'external'),
      counted.map(({ who }) => who),
      counted.map(({ isByServer = true }) => isByServer),
      counted.map(() => CONDITION),
      counted.map(() => DAY),
      counted.map(({ count }) => count),
      counted.map(({ late }) => late),
      counted.map(({ late }) => (late > 0 ? at(1) : null)),
      counted.map(({ late }) => (late > 0 ? at(2) : null)),
      counted.map(({ late }) => (late > 0 ? 3_600_000 : null)),
    ],
  );
};
const listNoted = async (projectId: string) =>
  (
    await database.owner.query(
      'select profile_id, source, reason from profiles.changes where project_id = $1 order by profile_id',
      [projectId],
    )
  ).rows;

const setUp = async () => {
  const projectId = newId();
  const ann = await know(projectId, 'ann');
  const ben = await know(projectId, 'ben');
  await inProject(database.deps, projectId, (scope) => watch(scope));
  return { projectId, ann, ben };
};

test('notes who changed, each once, with who sent the events', async () => {
  const { projectId, ann, ben } = await setUp();
  await note(
    projectId,
    [ann.profile_id, ben.profile_id, ann.profile_id],
    [
      { who: 'ann', count: 1, late: 0 },
      { who: 'ben', count: 1, late: 0, isByServer: false },
      { who: 'ben', count: 1, late: 0 },
    ],
  );
  expect(await listNoted(projectId)).toEqual([
    { profile_id: ann.profile_id, source: 'server', reason: null },
    { profile_id: ben.profile_id, source: 'browser', reason: null },
  ]);
});

test.each([
  [2, true],
  [1, false],
])('keeps what late events added: %s of 2 events, alone: %s', async (late, is_alone) => {
  const { projectId, ann, ben } = await setUp();
  await note(
    projectId,
    [ann.profile_id, ben.profile_id],
    [
      { who: 'ann', count: 2, late },
      { who: 'ben', count: 2, late: 0 },
    ],
  );
  const [noted, other] = await listNoted(projectId);
  expect(noted).toEqual({
    profile_id: ann.profile_id,
    source: 'server',
    reason: {
      kind: 'late',
      is_alone,
      counted: [
        {
          identity_id: ann.identity_id,
          condition_id: CONDITION,
          day: DAY_AT,
          count: late,
          first_at: expect.any(String),
          last_at: expect.any(String),
          lag_ms: 3_600_000,
        },
      ],
    },
  });
  const [one] = noted.reason.counted;
  expect([new Date(one.first_at), new Date(one.last_at)]).toEqual([at(1), at(2)]);
  expect(other.reason).toBeNull();
});

test('notes nothing of a person whose events were not counted', async () => {
  const { projectId, ann } = await setUp();
  await note(
    projectId,
    [ann.profile_id],
    [
      { who: 'ann', count: 1, late: 0 },
      { who: 'ben', count: 1, late: 1 },
    ],
  );
  expect(await listNoted(projectId)).toEqual([
    { profile_id: ann.profile_id, source: 'server', reason: null },
  ]);
});
