import { expect, test } from 'vitest';
import {
  ALERTS_KEPT_DAYS,
  openAlert,
  pruneAlerts,
  RESOLVED_ALERTS_MAX,
  resolveAlert,
  resolveSubject,
} from '../../src/alerts/alerts.ts';
import type { NewAlert } from '../../src/alerts/alerts.ts';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const alertOf = (kind: NewAlert['kind'], subject: string): NewAlert => ({
  kind,
  subject,
  subjectName: 'Relay',
  summary: 'It is so.',
  fix: 'Change it.',
  details: {},
});

const worldOf = () => {
  const projectId = newId();
  const within = <T>(work: (scope: Scope) => Promise<T>) =>
    inProject(database.deps, projectId, work);
  const open = (kind: NewAlert['kind'], subject = 'relay') =>
    within((scope) => openAlert(scope, alertOf(kind, subject)));
  const listOpen = async () => {
    const { rows } = await database.owner.query<{ said: string }>(
      `select kind || ' ' || subject as said from alerts.alerts
      where project_id = $1 and resolved_at is null order by 1`,
      [projectId],
    );
    return rows.map(({ said }) => said);
  };
  const count = async () => {
    const { rows } = await database.owner.query<{ count: number }>(
      'select count(*)::integer as count from alerts.alerts where project_id = $1',
      [projectId],
    );
    return rows[0]?.count;
  };
  return { projectId, within, open, listOpen, count };
};

test('resolves the named kinds of one subject, each once', async () => {
  const { within, open, listOpen } = worldOf();
  await open('provider_parked');
  await open('provider_held');
  await open('provider_parked', 'another');
  const resolve = () => within((scope) => resolveAlert(scope, 'relay', 'provider_parked'));
  expect([await resolve(), await resolve()]).toEqual([1, 0]);
  expect(await listOpen()).toEqual(['provider_held relay', 'provider_parked another']);
});

test('resolves every kind of a subject that is gone', async () => {
  const { within, open, listOpen } = worldOf();
  await open('provider_parked');
  await open('bounce_rate');
  await open('bounce_rate', 'another');
  expect(await within((scope) => resolveSubject(scope, 'relay'))).toBe(2);
  expect(await listOpen()).toEqual(['bounce_rate another']);
});

test('two transactions that end the condition at once resolve it once', async () => {
  const { within, open } = worldOf();
  await open('provider_parked');
  const resolve = (scope: Scope) => resolveAlert(scope, 'relay', 'provider_parked');
  const later: Promise<number>[] = [];
  const first = await within(async (scope) => {
    const resolved = await resolve(scope);
    later.push(within(resolve));
    await untilWaiting(database);
    return resolved;
  });
  expect([first, await later[0]]).toEqual([1, 0]);
});

test(`resolved alerts are deleted after ${ALERTS_KEPT_DAYS} days, open ones never`, async () => {
  const { projectId, within, open, listOpen, count } = worldOf();
  for (const subject of ['old', 'recent']) {
    await open('provider_parked', subject);
    await within((scope) => resolveAlert(scope, subject, 'provider_parked'));
  }
  await open('provider_parked', 'open');
  const age = (subject: string, days: number) =>
    database.owner.query(
      `update alerts.alerts set opened_at = now() - make_interval(days => $3),
        resolved_at = case when resolved_at is not null then now() - make_interval(days => $3) end
      where project_id = $1 and subject = $2`,
      [projectId, subject, days],
    );
  await age('old', ALERTS_KEPT_DAYS + 1);
  await age('recent', ALERTS_KEPT_DAYS - 1);
  await age('open', ALERTS_KEPT_DAYS + 1);
  expect(await within(pruneAlerts)).toBe(1);
  expect(await count()).toBe(2);
  expect(await listOpen()).toEqual(['provider_parked open']);
});

test(`a project keeps ${RESOLVED_ALERTS_MAX} resolved alerts, the newest`, async () => {
  const { projectId, within, count } = worldOf();
  await database.owner.query(
    `insert into alerts.alerts (project_id, alert_id, kind, subject, subject_name, summary, fix, details, opened_at,
      resolved_at)
    select $1, gen_random_uuid(), 'bounce_rate', n::text, 'a', 'b', 'c', '{}', now(), now() - make_interval(secs => n)
    from generate_series(1, $2::integer) as n`,
    [projectId, RESOLVED_ALERTS_MAX + 1],
  );
  expect(await within(pruneAlerts)).toBe(1);
  expect(await count()).toBe(RESOLVED_ALERTS_MAX);
  const { rows } = await database.owner.query(
    'select from alerts.alerts where project_id = $1 and subject = $2',
    [projectId, String(RESOLVED_ALERTS_MAX + 1)],
  );
  expect(rows).toEqual([]);
});
