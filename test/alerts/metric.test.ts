// Open alerts as a metric: how many of each kind over all projects, and nothing about a project.
import { expect, test } from 'vitest';
import { ALERT_KINDS, openAlert, resolveAlert } from '../../src/alerts/alerts.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { metricsOf } from '../../src/base/metrics.ts';
import { readLateness } from '../../src/worker/lateness.ts';
import { connectAs } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const ALERT = {
  kind: 'provider_parked',
  subject: 'relay',
  subjectName: 'Relay of a customer',
  summary: 'It is so.',
  fix: 'Change it.',
  details: {},
} as const;

const readMetric = async (): Promise<string[]> => {
  const { tellLateness, read } = metricsOf(database.deps);
  tellLateness(await readLateness(await connectAs(database, 'trunkline_queue')));
  const { text } = await read();
  expect(text).not.toContain('Relay of a customer');
  return text.split('\n').filter((line) => line.startsWith('trunkline_alerts_open'));
};

test('counts the open alerts of each kind over all projects', async () => {
  const kinds = Object.keys(ALERT_KINDS);
  expect(await readMetric()).toEqual(
    kinds.map((kind) => `trunkline_alerts_open{kind="${kind}"} 0`),
  );
  const projectIds = [newId(), newId()];
  for (const projectId of projectIds)
    await inProject(database.deps, projectId, (scope) => openAlert(scope, ALERT));
  expect(await readMetric()).toContain('trunkline_alerts_open{kind="provider_parked"} 2');
  await inProject(database.deps, projectIds[0] ?? '', (scope) =>
    resolveAlert(scope, 'relay', 'provider_parked'),
  );
  const lines = await readMetric();
  expect(lines).toContain('trunkline_alerts_open{kind="provider_parked"} 1');
  expect(lines.join()).not.toContain(projectIds[1]);
});
