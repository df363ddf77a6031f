import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { findLatestVersion, findTemplate, saveTemplate } from '../../src/rendering/rendering.ts';
import { insertTemplate } from '../../src/rendering/queries.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const text = { name: 'welcome', subject: 'Hi', html: '<p>Hi</p>', text: null };

test('a saved template is its version 1, read back as it was', async () => {
  const projectId = newId();
  const [found, latest] = await inProject(database.deps, projectId, async (scope) => {
    const templateId = await saveTemplate(scope, text);
    return [await findTemplate(scope, templateId, 1), await findLatestVersion(scope, templateId)];
  });
  expect(found).toMatchObject({ version: 1, subject: 'Hi', html: '<p>Hi</p>', text: null });
  expect(latest).toEqual({ version: 1 });
});

test('a version never changes: it cannot be written twice, and the newest is another', async () => {
  const projectId = newId();
  const templateId = await inProject(database.deps, projectId, (scope) =>
    saveTemplate(scope, text),
  );
  const add = (version: number) =>
    inProject(database.deps, projectId, (scope) =>
      insertTemplate(scope, { template_id: templateId, version, ...text, subject: 'changed' }),
    );
  await expect(add(1)).rejects.toThrow();
  await add(2);
  const [first, latest] = await inProject(database.deps, projectId, async (scope) => [
    await findTemplate(scope, templateId, 1),
    await findLatestVersion(scope, templateId),
  ]);
  expect(first).toMatchObject({ subject: 'Hi' });
  expect(latest).toEqual({ version: 2 });
});

test('another project has no such template', async () => {
  const templateId = await inProject(database.deps, newId(), (scope) => saveTemplate(scope, text));
  const other = await inProject(database.deps, newId(), async (scope) => [
    await findTemplate(scope, templateId, 1),
    await findLatestVersion(scope, templateId),
  ]);
  expect(other).toEqual([null, null]);
});
