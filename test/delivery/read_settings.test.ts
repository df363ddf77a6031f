import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { readSettings } from '../../src/delivery/settings.ts';
import { testDatabase } from '../support/database.ts';
import { budgeted } from './budgeted.ts';

const database = testDatabase();
const read = (projectId: string) => inProject(database.deps, projectId, readSettings);

test('a project that decided nothing has the defaults; others keep theirs', async () => {
  const defaults = { recipient_sends_max: 3, unconfirmed_sends_max: 200 };
  expect(await read(newId())).toEqual(defaults);
  const { projectId, decide } = budgeted(database);
  await decide(7, 5);
  expect(await read(projectId)).toEqual({ recipient_sends_max: 5, unconfirmed_sends_max: 7 });
  expect(await read(newId())).toEqual(defaults);
});
