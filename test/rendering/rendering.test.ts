import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import {
  findLatestVersion,
  findTemplate,
  saveTemplate,
  saveVersion,
} from '../../src/rendering/rendering.ts';
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

test('a version never changes: what is saved next is another', async () => {
  const projectId = newId();
  const within = <T>(work: (scope: Scope) => Promise<T>) =>
    inProject(database.deps, projectId, work);
  const templateId = await within((scope) => saveTemplate(scope, text));
  const version = await within((scope) =>
    saveVersion(scope, templateId, { ...text, subject: 'changed' }),
  );
  expect(version).toBe(2);
  expect(await within((scope) => findTemplate(scope, templateId, 1))).toMatchObject({
    subject: 'Hi',
  });
  expect(await within((scope) => findLatestVersion(scope, templateId))).toEqual({ version: 2 });
});

test('versions that are saved at once are all kept, each under a number of its own', async () => {
  const projectId = newId();
  const save = (templateId: string) =>
    inProject(database.deps, projectId, (scope) => saveVersion(scope, templateId, text));
  const templateId = await inProject(database.deps, projectId, (scope) =>
    saveTemplate(scope, text),
  );
  const versions = await Promise.all(Array.from({ length: 6 }, () => save(templateId)));
  expect(versions.toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7]);
});

test('another project has no such template', async () => {
  const templateId = await inProject(database.deps, newId(), (scope) => saveTemplate(scope, text));
  const other = await inProject(database.deps, newId(), async (scope) => [
    await findTemplate(scope, templateId, 1),
    await findLatestVersion(scope, templateId),
  ]);
  expect(other).toEqual([null, null]);
});
