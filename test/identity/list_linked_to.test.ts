import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { listLinkedTo } from '../../src/identity/link_queries.ts';
import { testDatabase } from '../support/database.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';
import { identitiesOf } from './linked.ts';

const database = testDatabase();

const list = async (projectId: string, anonymousIds: string[]) => {
  const rows = await inProject(database.deps, projectId, (scope) =>
    listLinkedTo(scope, anonymousIds),
  );
  return new Map(rows.map((row) => [row.anonymous_id, row.external_id]));
};

test('lists the anonymous ids that exist, each with the person of its active link', async () => {
  const projectId = newId();
  const people = identitiesOf(database, projectId);
  await people.see('external', 'ann', 'ben');
  await people.see('anonymous', 'linked', 'alone', 'refused', 'undone');
  await people.join('linked', 'ann');
  await people.join('refused', 'ann');
  await people.join('refused', 'ben');
  const undone = await people.join('undone', 'ann');
  await people.undo(undone?.link_id ?? '');
  const asked = ['linked', 'alone', 'refused', 'undone', 'unknown', 'ann'];
  expect(await list(projectId, asked)).toEqual(
    new Map([
      ['linked', 'ann'],
      ['alone', null],
      ['refused', 'ann'],
      ['undone', null],
    ]),
  );
  expect(await list(newId(), asked)).toEqual(new Map());
  expect(await list(projectId, [])).toEqual(new Map());
});

test.each(PLAN_MODES)('reads one link for each anonymous id, of many, with %s', async (mode) => {
  const projectId = newId();
  await database.owner.query(
    `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
    select $1, gen_random_uuid(), 'anonymous', 'd' || at, gen_random_uuid(), gen_random_uuid()
    from generate_series(1, 2000) as at`,
    [projectId],
  );
  await database.owner.query(
    `insert into identity.links (project_id, link_id, anonymous_identity_id, external_identity_id, anonymous_id,
       external_id, profile_id, anonymous_profile_id, source, key_type, status, created_at)
    select project_id, gen_random_uuid(), identity_id, identity_id, value, 'ann', profile_id, own_profile_id,
      'identify', 'publishable', 'active', now()
    from identity.identities where project_id = $1`,
    [projectId],
  );
  await database.owner.query('analyze identity.identities, identity.links');
  for (const table of ['identity.identities', 'identity.links']) {
    const { answer, read } = await withRowsRead(database, { projectId, table, mode }, (scope) =>
      listLinkedTo(scope, ['d7', 'd70', 'unknown']),
    );
    expect(answer).toHaveLength(2);
    expect(read).toBeLessThanOrEqual(2);
  }
});
