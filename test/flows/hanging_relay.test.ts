import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { LINKS_PER_PROVIDER_MAX } from '../../src/providers/providers.ts';
import { until } from '../support/until.ts';
import { addressOf, testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const PEOPLE = 14;

const world = testWorld();

test(
  'a relay that hangs takes one place of a worker at most: other projects’ events are processed meanwhile',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    world.sink.play('end', 'hang');
    await world.start('worker');
    for (let person = 0; person < PEOPLE; person += 1) {
      await world.signUp(`stuck-${person}`);
      await until(
        'it is planned',
        async () => (await world.sendsTo(`stuck-${person}`)).length === 1,
      );
    }
    await until('the relay hangs', () => world.sink.mails.length >= 5);

    const projectId = newId();
    const event = { event: 'page_viewed', external_id: 'somebody' };
    await accept(world.deps, { projectId, kind: 'server' }, { events: [event] });
    await until('the other project is processed', async () => {
      const { rowCount } = await world.owner.query(
        'select from identity.identities where project_id = $1',
        [projectId],
      );
      return rowCount === 1;
    });
    // A wake-up that finds the turn running is a second job for a moment.
    await until('one job at most is at the relay', async () => {
      const { rows } = await world.owner.query<{ busy: number }>(
        `select count(*)::int as busy from graphile_worker._private_jobs as job
        join graphile_worker._private_tasks as task on task.id = job.task_id
        where task.identifier = 'delivery/send_queued' and job.locked_by is not null`,
      );
      return (rows[0]?.busy ?? 0) <= 1;
    });
    // One of them is the preflight's.
    expect(world.sink.connections).toBeLessThanOrEqual(LINKS_PER_PROVIDER_MAX + 1);
    world.sink.dropAll();
  },
);

test(
  'credentials that are refused park the provider: nobody goes on trying',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    world.sink.reset();
    world.sink.play('auth', { code: 535 });
    world.sink.dropAll();
    await world.signUp('locked-out');
    // Mail of before may park the provider first.
    await until('it is planned', async () => (await world.sendsTo('locked-out')).length === 1);
    await until('the provider is parked', async () => {
      const { rows } = await world.owner.query<{ status: string; parked_reason: string }>(
        'select status, parked_reason from providers.providers where project_id = $1',
        [world.project.project_id],
      );
      return rows[0]?.status === 'parked' && rows[0].parked_reason === 'authentication_failed';
    });
    const [send] = await world.sendsTo('locked-out');
    expect(send).toMatchObject({ status: 'queued' });

    await world.owner.query(
      `update delivery.sends set expires_at = now() - interval '1 ms' where recipient = $1`,
      [addressOf('locked-out')],
    );
    await until(
      'what waits too long ends as expired, also while the provider is parked',
      async () => {
        const [waiting] = await world.sendsTo('locked-out');
        return waiting?.status === 'expired';
      },
    );
  },
);
