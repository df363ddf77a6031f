import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { readDefinitions } from '../../src/automations/definitions.ts';
import { DEFINITION_SHOWN } from '../../src/automations/shown.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

/** An automation with so many versions, each of a zone of its own. */
const keep = async (versions: number, projectId = newId(), automation_id = newId()) => {
  await database.owner.query(
    `insert into automations.automations values ($1, $2, 'Many', 'draft', null, now(), now())`,
    [projectId, automation_id],
  );
  await database.owner.query(
    `insert into automations.versions (project_id, automation_id, version, definition, created_at)
    select $1, $2, version, jsonb_set($3, '{settings,expires_after}', to_jsonb('PT' || version || 'H')), now()
    from generate_series(1, $4) as version`,
    [projectId, automation_id, JSON.stringify(DEFINITION_SHOWN), versions],
  );
  const refs = Array.from({ length: versions }, (_, at) => ({ automation_id, version: at + 1 }));
  const read = (asked = refs) =>
    inProject(database.deps, projectId, async (scope) => {
      const definitionOf = await readDefinitions(scope, asked);
      return asked.map((one) => definitionOf(one).settings.expires_after);
    });
  return { projectId, automation_id, read };
};

test('each version says what it says, also past as many as are remembered', async () => {
  const { read } = await keep(1_001);
  const hours = Array.from({ length: 1_001 }, (_, at) => `PT${at + 1}H`);
  expect(await read()).toEqual(hours);
  expect(await read()).toEqual(hours);
});

test('a version is of its project, also where the ids are the same', async () => {
  const { automation_id, read } = await keep(2);
  expect(await read()).toEqual(['PT1H', 'PT2H']);
  const other = await keep(1, newId(), automation_id);
  expect(await other.read()).toEqual(['PT1H']);
  await expect(other.read([{ automation_id, version: 2 }])).rejects.toThrow('has no version 2');
});

test('what cannot be understood fails whoever asks for it, and nobody else', async () => {
  const { projectId, automation_id, read } = await keep(2);
  await database.owner.query(
    `update automations.versions set definition = '{}' where project_id = $1 and version = 2`,
    [projectId],
  );
  await expect(read()).rejects.toThrow();
  expect(await read([{ automation_id, version: 1 }])).toEqual(['PT1H']);
});
