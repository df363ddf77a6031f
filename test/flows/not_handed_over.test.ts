// What is claimed and not handed over costs its provider nothing, whoever is told to stop leaves what a crash leaves.
import { test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { sendHint } from '../../src/delivery/delivery.ts';
import { createProject } from '../../src/projects/projects.ts';
import { CIRCUIT_FAILURES } from '../../src/providers/circuit.ts';
import { LINKS_PER_PROVIDER_MAX, saveProvider, setPlan } from '../../src/providers/providers.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const world = testWorld();

/** A project of its own with a provider at the world's relay, and sends that wait for it. */
const opened = async (html = '<p>Hi</p>') => {
  const { project_id: projectId } = await createProject(world.deps, 'its own');
  const sender = { display_name: 'T', from_email: 'hello@x.test', from_name: null, reply_to: null };
  const provider = { ...sender, ...world.sink.settings };
  const providerId = await saveProvider(world.deps, projectId, provider);
  const templateId = await inProject(world.deps, projectId, (scope) =>
    saveTemplate(scope, { name: 'T', subject: 'T', html, text: 'T' }),
  );
  const sends = sendsOf(world, projectId);
  const plan = async () => {
    const send = newSend({ providerId, templateId });
    await sends.plan(send);
    return send;
  };
  /** One that is found out to be suppressed when it is begun. */
  const planStopped = async () => {
    const { addressKey } = await plan();
    await world.owner.query(
      `update suppression.addresses set suppressed_at = now(), reason = 'manual', source = 'api'
      where project_id = $1 and address_key = $2`,
      [projectId, addressKey],
    );
  };
  const counts = async (): Promise<Record<string, number>> => {
    const { rows } = await world.owner.query<{ status: string; count: number }>(
      'select status, count(*)::int from delivery.sends where project_id = $1 group by status',
      [projectId],
    );
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  };
  const wake = () => hint(world.deps, sendHint(projectId, providerId));
  return { projectId, providerId, sends, plan, planStopped, counts, wake };
};

test(
  'probes that must not be sent are followed by the next at once',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const { projectId, providerId, plan, planStopped, counts, wake } = await opened();
    for (let stopped = 0; stopped < 3; stopped += 1) await planStopped();
    await plan();
    await world.owner.query(
      'insert into providers.paces (project_id, provider_id, failure_count, opened_until) values ($1, $2, $3, now())',
      [projectId, providerId, CIRCUIT_FAILURES],
    );
    const worker = await world.start('worker');
    await wake();
    // A probe that nobody gave back would be waited for a minute, each of them.
    const timeoutMs = 50_000;
    await until('the fourth is sent', async () => (await counts())['accepted'] === 1, timeoutMs);
    await worker.stop();
  },
);

test('what is not sent uses up no day of a ramp', { timeout: TEST_TIMEOUT_MS }, async () => {
  const { projectId, providerId, plan, planStopped, counts, wake } = await opened();
  const ramp = { started_on: new Date().toISOString().slice(0, 10), stages: [2, 3] };
  await inProject(world.deps, projectId, (scope) =>
    setPlan(scope, providerId, { rate_per_second: null, ramp }),
  );
  for (let stopped = 0; stopped < 2; stopped += 1) await planStopped();
  await plan();
  const worker = await world.start('worker');
  await wake();
  await until('the third is sent', async () => (await counts())['accepted'] === 1);
  await worker.stop();
});

test(
  'of a relay that hangs nothing is kept but what is on its way',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const { projectId, plan, counts, wake } = await opened();
    for (let planned = 0; planned < 60; planned += 1) await plan();
    world.sink.play('end', 'hang');
    const worker = await world.start('worker');
    await wake();
    await until('the lanes are full', async () => {
      return (await counts())['handing_off'] === LINKS_PER_PROVIDER_MAX;
    });
    await until('nothing else is leased', async () => {
      const { rows } = await world.owner.query<{ leased: number }>(
        'select count(lease_owner)::int as leased from delivery.sends where project_id = $1',
        [projectId],
      );
      return rows[0]?.leased === LINKS_PER_PROVIDER_MAX;
    });
    await worker.stop('SIGKILL');
    world.sink.dropAll();
    world.sink.reset();
  },
);

test(
  'a worker that is told to stop stays signed on until what it began has ended',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const { plan, sends, counts, wake } = await opened();
    const { sendId } = await plan();
    world.sink.play('end', 'hang');
    const worker = await world.start('worker');
    await wake();
    await until('it is on its way', async () => (await counts())['handing_off'] === 1);
    const stopped = worker.stop('SIGTERM');
    // Its jobs have ended by then; the hand-off has not.
    await until('it takes no more jobs', async () => {
      const { rowCount } = await world.owner.query(
        `select from pg_stat_activity where application_name like '%sweeper%' and datname = current_database()`,
      );
      return rowCount === 0;
    });
    process.kill(worker.pid, 'SIGKILL');
    await stopped;
    world.sink.reset();
    const next = await world.start('worker');
    const isUnknown = async () => (await sends.read(sendId)).status === 'unknown';
    await until('its hand-off is settled as a dead worker’s', isUnknown);
    await next.stop();
  },
);
