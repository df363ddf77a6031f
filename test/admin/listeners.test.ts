import { expect, onTestFinished, test } from 'vitest';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

test('a stream has no more listeners than Node expects, so it logs no warning', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => void warnings.push(name);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const cookie = await admin.openSession();
  const input = { projectId: api.project.project_id };
  const answer = await admin.call('sends.latest', { type: 'subscription', input, cookie });
  expect(answer.status).toBe(200);
  expect(warnings).toEqual([]);
});
