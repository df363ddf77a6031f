// An attack that was found: one date that a page told stopped all segments of its project until a person acted.
import { beforeEach, expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { testApi } from '../support/api.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { refreshSegments } from '../support/refresh_segments.ts';

const database = testDatabase();
const api = testApi(database);

beforeEach(async () => {
  api.project = await createProject(database.deps, 'dates');
});

const ask = async (method: string, path: string, body?: unknown, key = api.project.server_key) => {
  const answer = await api.call(method, path, { key, ...(body === undefined ? {} : { body }) });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};
const make = async (name: string, trait: string, given: object): Promise<string> =>
  (
    await ask('POST', '/v1/segments', {
      name,
      definition: { where: { kind: 'trait', trait, test: given } },
    })
  ).id;
const refresh = async (): Promise<void> => {
  await api.processEvents();
  await refreshSegments(database.deps, api.project.project_id, { signal: NEVER });
};
const statusOf = async (id: string): Promise<string> =>
  (await ask('GET', `/v1/segments/${id}`)).status;
const countOf = async (id: string): Promise<number> =>
  (await ask('GET', `/v1/segments/${id}/members`)).items.length;

test.each([
  '2026-11-28T03:00:00Z',
  'infinity',
  '-infinity',
  '0001-01-01',
  '0001-01-01T00:00:00+23:59',
  '9999-12-31',
  '9999-12-31T23:59:59Z',
  '9999-12-31T23:59:59-23:59',
])('a page that tells the date %s stops no segment of its project', async (renewal) => {
  const vips = await make('Vips', 'plan', { is: 'equals', value: 'vip' });
  for (const is of ['within_last', 'within_next', 'anniversary'] as const)
    await make(`Renewed ${is}`, 'renewal', { is, days: 7 });
  await refresh();
  const page = { external_id: 'page-x', anonymous_id: 'a', traits: { renewal } };
  await ask('POST', '/v1/identify', page, api.project.publishable_key);
  await refresh();
  await ask('POST', '/v1/identify', { external_id: 'ann', traits: { plan: 'vip' } });
  await refresh();
  expect(await countOf(vips)).toBe(1);

  const later = await make('Renewed later', 'renewal', { is: 'within_last', days: 30 });
  const known = await make('Known', 'renewal', { is: 'exists' });
  await refresh();
  expect(await Promise.all([later, known].map(statusOf))).toEqual(['ready', 'ready']);
  expect(await countOf(known)).toBe(1);
});
