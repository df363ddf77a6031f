// A relay that takes for ever holds its own lanes: everybody else's mail goes out, and events are processed.
import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { newId } from '../../src/base/ids.ts';
import { sendHint } from '../../src/delivery/delivery.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { createProject } from '../../src/projects/projects.ts';
import { LINKS_PER_PROVIDER_MAX, saveProvider } from '../../src/providers/providers.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { nameServer } from '../support/name_server.ts';
import type { Action, Stage } from '../support/smtp_script.ts';
import { until } from '../support/until.ts';
import { addressOf, testWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const TARPITS = 20;
/** More than a provider may have on their way at a time. */
const SENDS_EACH = 2 * LINKS_PER_PROVIDER_MAX;

type Tarpit = { projectId: string; providerId: string };

/** A project with mail that waits for a relay of this address. */
const makeTarpit = async (world: World, sends = SENDS_EACH): Promise<Tarpit> => {
  const { project_id: projectId } = await createProject(world.deps, 'tarpit');
  const sender = {
    display_name: 'Tarpit',
    from_email: 'hello@tarpit.test',
    from_name: null,
    reply_to: null,
  };
  const providerId = await saveProvider(world.deps, projectId, {
    ...sender,
    ...world.sink.settings,
  });
  const template = { name: 'Slow', subject: 'Slow', html: '<p>Slow</p>', text: null };
  const templateId = await inProject(world.deps, projectId, (scope) =>
    saveTemplate(scope, template),
  );
  const { plan } = sendsOf(world, projectId);
  for (let at = 0; at < sends; at += 1) await plan(newSend({ providerId, templateId }));
  await hint(world.deps, sendHint(projectId, providerId));
  return { projectId, providerId };
};

/** How many hand-offs each of these holds: one of before may hold what its killed worker had, and a new one's. */
const heldBy = async (world: World, tarpits: readonly Tarpit[]): Promise<number[]> => {
  const { rows } = await world.owner.query<{ held: number }>(
    `select count(*)::integer as held from delivery.sends
    where status = 'handing_off' and provider_id = any ($1) group by provider_id`,
    [tarpits.map(({ providerId }) => providerId)],
  );
  return rows.map(({ held }) => held);
};

const mailedTo = (world: World, person: string): number =>
  world.sink.mails.filter(({ to, answer }) => to[0] === addressOf(person) && answer === 250).length;

/** The mail of a quiet project, and an event of another. */
const expectLifeGoesOn = async (world: World, round: number): Promise<void> => {
  const person = `quiet-${round}`;
  await world.signUp(person);
  await until('a quiet project’s mail is handed over', () => mailedTo(world, person) === 1);
  const projectId = newId();
  const event = { event: 'page_viewed', external_id: 'somebody' };
  await accept(world.deps, { projectId, kind: 'server' }, { events: [event] });
  await until('another project’s event is processed', async () => {
    const { rowCount } = await world.owner.query(
      'select from identity.identities where project_id = $1',
      [projectId],
    );
    return rowCount === 1;
  });
};

describe('relays that answer, each slowly', () => {
  const world = testWorld();
  /** More than are fed at a time. */
  const SLOW = 8;
  const SENDS = 60;

  test(
    'make room for a neighbour’s mail between two claims',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const isSlow = ({ from }: { from: string }) => from === 'hello@tarpit.test';
      world.sink.play('end', { delayMs: 1_500 }, { when: isSlow });
      for (let at = 0; at < SLOW; at += 1) await makeTarpit(world, SENDS);
      await world.start('worker');
      const taken = () => world.sink.mails.filter(isSlow).length;
      await until('slow relays have their first mails', () => taken() > SLOW);

      await expectLifeGoesOn(world, 0);

      const before = world.sink.mails.findIndex(({ to }) => to[0] === addressOf('quiet-0'));
      expect(before).toBeLessThan((SLOW * SENDS) / 2);
    },
  );
});

describe('a relay whose name server is silent', () => {
  const world = testWorld();

  test(
    'holds up no neighbour’s mail, and nobody who asks',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const silent = 'silent.tarpit.test';
      const names = await nameServer({ [silent]: null });
      const { projectId } = await makeTarpit(world);
      // It was there when it was connected.
      await world.owner.query(
        'update providers.providers set smtp_host = $2 where project_id = $1',
        [projectId, silent],
      );
      const service = await world.start('all', { DNS_SERVERS: names.address });
      await until('the name is asked for', () => names.asked.includes(silent));

      for (let round = 0; round < 3; round += 1) {
        await expectLifeGoesOn(world, round);
        expect((await fetch(`http://127.0.0.1:${service.port}/healthz`)).status).toBe(200);
      }

      // Nothing of it is lost, or said to be on its way.
      const { rows } = await world.owner.query(
        'select distinct status, attempt_count from delivery.sends where project_id = $1',
        [projectId],
      );
      expect(rows).toEqual([{ status: 'queued', attempt_count: 0 }]);
    },
  );
});

describe.concurrent.each<[string, number[], Stage, Action]>([
  ['never answers a message', [1, TARPITS], 'end', 'hang'],
  ['never answers a command', [1], 'mail', 'hang'],
  ['takes a message in byte by byte', [1], 'body', { bytesPerSecond: 10 }],
])('a relay that %s', (_what, counts, stage, action) => {
  const world = testWorld();

  test.each(counts)(
    'as each of %i: holds its own lanes, and nothing of a neighbour’s',
    { timeout: TEST_TIMEOUT_MS, concurrent: false },
    async (count) => {
      const isOfTarpit = ({ from }: { from: string }) => from === 'hello@tarpit.test';
      world.sink.play(stage, action, { when: isOfTarpit });
      const tarpits: Tarpit[] = [];
      while (tarpits.length < count) tarpits.push(await makeTarpit(world));
      const worker = await world.start('worker');
      await until('every tarpit holds all its lanes', async () => {
        const held = await heldBy(world, tarpits);
        return held.length === count && held.every((one) => one === LINKS_PER_PROVIDER_MAX);
      });

      for (let round = 0; round < 3; round += 1) await expectLifeGoesOn(world, count * 10 + round);

      const held = await heldBy(world, tarpits);
      expect(held).toEqual(tarpits.map(() => LINKS_PER_PROVIDER_MAX));
      expect(worker.lastError()).toBeNull();
      await worker.stop('SIGKILL');
      world.sink.dropAll();
    },
  );
});
