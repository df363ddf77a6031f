import { setTimeout as wait } from 'node:timers/promises';
import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { sendHint } from '../../src/delivery/delivery.ts';
import { createProject } from '../../src/projects/projects.ts';
import { LINKS_PER_PROVIDER_MAX, saveProvider } from '../../src/providers/providers.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { EXAMPLE_EVENT, keepExample } from '../../src/runtime/example.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { openInstallation } from './installation.ts';
import { median } from './measure.ts';
import type { Comparison } from './measure.ts';
import { startRelay } from './relay_process.ts';
import { MESSAGE, queueSends } from './sending.ts';
import { startTarpit } from './tarpit.ts';
import type { Mood } from './tarpit.ts';

const ROUNDS = 5;
const SAMPLES_PER_ROUND = 20;
const WARM_UP_SAMPLES = 20;
const BACKLOG_SENDS = 5_000;
const POLL_MS = 20;

const now = (): number => performance.timeOrigin + performance.now();
const senderOf = (domain: string) => ({
  display_name: domain,
  from_email: `hello@${domain}`,
  from_name: null,
  reply_to: null,
});

/** A quiet project with a relay that takes everything at once, and one whose relay is a tarpit. */
const openWorld = async () => {
  const installation = await openInstallation();
  const { deps } = installation;
  const [relay, tarpit] = [await startRelay(), await startTarpit()];
  const quiet = await keepExample(deps, null, { ...senderOf('quiet.test'), ...relay.settings });
  const project = await createProject(deps, 'tarpit');
  const { project_id: projectId } = project;
  const sender = { ...senderOf('tarpit.test'), ...tarpit.settings };
  const provider_id = await saveProvider(deps, projectId, sender);
  const template_id = await inProject(deps, projectId, (scope) =>
    saveTemplate(scope, { name: 'bench', ...MESSAGE }),
  );
  const ask = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
    withClient(installation.url, async (client) => (await client.query<Row>(text, values)).rows);
  const service = await installation.start('all');
  const base = `http://127.0.0.1:${service.port}`;
  return { installation, relay, tarpit, quiet, project, provider_id, template_id, ask, base };
};
type World = Awaited<ReturnType<typeof openWorld>>;

/** Milliseconds from posting one sign-up of the quiet project to the first byte of its mail. */
const sampleEvent = async ({ relay, quiet, base }: World, person: string): Promise<number> => {
  const email = `${person}@people.test`;
  const taken = relay.rateOf(1);
  const postedAt = now();
  const response = await fetch(`${base}/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${quiet.server_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ event: EXAMPLE_EVENT, external_id: person, properties: { email } }),
  });
  if (response.status !== 202) throw new Error(`the event was answered ${response.status}`);
  await taken;
  return (relay.firstByteAt.get(email) ?? Number.NaN) - postedAt;
};

const untilSo = async (isSo: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await isSo())) await wait(POLL_MS);
};

/** Nothing is given to the tarpit any more, and what it held is known to be lost. */
const leaveTarpit = async ({ ask, tarpit, provider_id }: World): Promise<void> => {
  await ask(
    `update providers.providers set status = 'parked', parked_reason = 'account_blocked'
    where provider_id = $1`,
    [provider_id],
  );
  tarpit.dropAll();
  await untilSo(async () => {
    const [left] = await ask(
      `select from delivery.sends where provider_id = $1 and status in ('queued', 'handing_off') and lease_owner is not null limit 1`,
      [provider_id],
    );
    return left === undefined;
  });
};

/** The tarpit has a backlog, and holds all the lanes that it may have. */
const enterTarpit = async (world: World, mood: Mood): Promise<void> => {
  const { installation, project, provider_id, ask, tarpit } = world;
  tarpit.mood = mood;
  const [queued] = await ask<{ count: number }>(
    `select count(*)::integer as count from delivery.sends where provider_id = $1 and status = 'queued'`,
    [provider_id],
  );
  await queueSends(world, BACKLOG_SENDS - (queued?.count ?? 0));
  await ask(
    `update providers.providers set status = 'active', parked_reason = null where provider_id = $1`,
    [provider_id],
  );
  await ask('delete from providers.paces where provider_id = $1', [provider_id]);
  await hint(installation.deps, sendHint(project.project_id, provider_id));
  await untilSo(() => tarpit.held() === LINKS_PER_PROVIDER_MAX);
};

let samples = 0;
const sampleRound = async (world: World): Promise<number> => {
  const latencies: number[] = [];
  for (let at = 0; at < SAMPLES_PER_ROUND; at += 1) {
    samples += 1;
    latencies.push(await sampleEvent(world, `person-${samples}`));
    await wait(POLL_MS);
  }
  return median(latencies);
};

const beside = async (world: World, mood: Mood): Promise<Comparison> => {
  const measured: number[] = [];
  const comparison: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await leaveTarpit(world);
    comparison.push(await sampleRound(world));
    await enterTarpit(world, mood);
    measured.push(await sampleRound(world));
  }
  return {
    name: `event accepted → first byte of its mail, beside ${BACKLOG_SENDS} sends to a relay that ${mood}s, median`,
    unit: 'ms',
    measured,
    comparedWith: 'the same project alone',
    comparison,
    good: { atMost: 2 },
  };
};

/** What a quiet project notices of a neighbour whose relay does not answer, or does so byte by byte. */
export const neighbour = async (): Promise<Comparison[]> => {
  const world = await openWorld();
  for (let at = 0; at < WARM_UP_SAMPLES; at += 1) await sampleEvent(world, `warm-${at}`);
  const comparisons = [await beside(world, 'hang'), await beside(world, 'drip')];
  world.tarpit.close();
  await world.installation.close();
  world.relay.close();
  return comparisons;
};
