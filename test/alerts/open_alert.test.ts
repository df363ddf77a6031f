import { expect, test } from 'vitest';
import { openAlert, resolveAlert } from '../../src/alerts/alerts.ts';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { PARKED } from './parked.ts';

const database = testDatabase();

const within = <T>(projectId: string, work: (scope: Scope) => Promise<T>) =>
  inProject(database.deps, projectId, work);

const listRows = async (projectId: string) => {
  const { rows: alerts } = await database.owner.query(
    'select kind, subject, summary, resolved_at from alerts.alerts where project_id = $1 order by alert_id',
    [projectId],
  );
  const { rows: announced } = await database.owner.query<{ status: string }>(
    'select status from alerts.announcements where project_id = $1 order by status',
    [projectId],
  );
  return { alerts, announced: announced.map(({ status }) => status) };
};

test('opens an alert once for a kind and subject, however often the condition is seen', async () => {
  const projectId = newId();
  const open = (given = {}) =>
    within(projectId, (scope) => openAlert(scope, { ...PARKED, ...given }));
  expect(await open()).toBe(true);
  expect(await open({ summary: 'It is still parked.' })).toBe(false);
  expect(await open({ subject: 'another' })).toBe(true);
  expect(await open({ kind: 'provider_held' })).toBe(true);
  const { alerts, announced } = await listRows(projectId);
  expect(alerts).toMatchObject([
    { kind: 'provider_parked', subject: 'relay', summary: 'It is still parked.' },
    { kind: 'provider_parked', subject: 'another' },
    { kind: 'provider_held', subject: 'relay' },
  ]);
  expect(announced).toEqual(['open', 'open', 'open']);
});

test('opens another alert once the one before is resolved', async () => {
  const projectId = newId();
  const open = () => within(projectId, (scope) => openAlert(scope, PARKED));
  await open();
  await within(projectId, (scope) => resolveAlert(scope, 'relay', 'provider_parked'));
  expect(await open()).toBe(true);
  expect((await listRows(projectId)).announced).toEqual(['open', 'open', 'resolved']);
});

test('two transactions that see the condition at once open one alert', async () => {
  const projectId = newId();
  const opened: Promise<boolean>[] = [];
  const first = await within(projectId, async (scope) => {
    const isNew = await openAlert(scope, PARKED);
    opened.push(within(projectId, (other) => openAlert(other, PARKED)));
    await untilWaiting(database);
    return isNew;
  });
  expect([first, await opened[0]]).toEqual([true, false]);
  expect((await listRows(projectId)).alerts).toHaveLength(1);
});
