// A schedule in a folder names its segment by its key, and comes back as it was written.
import { expect, test } from 'vitest';
import { applyFolder, exportFolder } from '../../src/admin/folder/folder.ts';
import { inProject } from '../../src/base/db.ts';
import { createProject } from '../../src/projects/projects.ts';
import { automationsThroughApi, keepShownProvider } from '../automations/through_api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const { api, ask, make } = automationsThroughApi(database);

const read = (projectId: string) => inProject(database.deps, projectId, exportFolder);

test('a schedule is exported, and applied to another project with its segment', async () => {
  const where = { kind: 'trait', trait: 'plan', test: { is: 'equals', value: 'pro' } };
  const { body: segment } = await ask('POST', '/v1/segments', {
    name: 'Pro',
    definition: { where },
  });
  const times = {
    start: '2040-01-10T09:00',
    rule: 'FREQ=MONTHLY;BYDAY=1MO',
    zone: 'person' as const,
  };
  const told = { kind: 'update_profile' as const, traits: { came: true }, next: null };
  await make(
    {
      trigger: { kind: 'schedule', segment_id: segment.id as string, ...times },
      settings: { re_entry: 'every_time' },
      entry: 'tell',
      steps: { tell: told },
    },
    'News',
  );
  const folder = await read(api.project.project_id);
  const file = JSON.parse(folder.get('automations/news.json') ?? '{}');
  expect(file.definition.trigger).toEqual({ kind: 'schedule', segment: 'pro', ...times });
  const { project_id: other } = await createProject(database.deps, 'other');
  await keepShownProvider(database, other);
  await inProject(database.deps, other, (scope) => applyFolder(scope, folder));
  expect([...(await read(other))]).toEqual([...folder]);
});
