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
import { median, now } from './measure.ts';
import type { Comparison } from './measure.ts';
import { startRelay } from './relay_process.ts';
import { MESSAGE, queueSends } from './sending.ts';
import { startTarpit } from './tarpit.ts';
import type { Mood } from './tarpit.ts';

const ROUNDS = 5;
const SAMPLES_PER_ROUND = 20;
const WARM_UP_SAMPLES = 20;
const BACKLOG_SENDS = 5_000;
const TARPITS = 20;
const POLL_MS = 20;

export const senderOf = (domain: string) => ({
  display_name: domain,
  from_email: `hello@${domain}`,
  from_name: null,
  reply_to: null,
});

/** A quiet project with a relay that takes everything at once, and one whose relays are tarpits. */
const openWorld = async () => {
  const installation = await openInstallation();
  const { deps } = installation;
  const [relay, tarpit] = [await startRelay(), await startTarpit()];
  const quiet = await keepExample(deps, null, { ...senderOf('quiet.test'), ...relay.settings });
  const project = await createProject(deps, 'tarpit');
  const { project_id: projectId } = project;
  const provider_ids: string[] = [];
  for (let at = 0; at < TARPITS; at += 1) {
    const sender = { ...senderOf(`tarpit-${at}.test`), ...tarpit.settings };
    provider_ids.push(await saveProvider(deps, projectId, sender));
  }
  const template_id = await inProject(deps, projectId, (scope) =>
    saveTemplate(scope, { name: 'bench', ...MESSAGE }),
  );
  const ask = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
    withClient(installation.url, async (client) => (await client.query<Row>(text, values)).rows);
  const service = await installation.start('all');
  const base = `http://127.0.0.1:${service.port}`;
  return { installation, relay, tarpit, quiet, project, provider_ids, template_id, ask, base };
};
type World = Awaited<ReturnType<typeof openWorld>>;
type Quiet = Pick<World, 'relay' | 'quiet' | 'base'>;

/** Milliseconds from posting one sign-up of the quiet project to the first byte of its mail. */
export const sampleEvent = async (
  { relay, quiet, base }: Quiet,
  person: string,
): Promise<number> => {
  const email = `${person}@people.test`;
  const taken = relay.expect(1);
  const postedAt = now();
  const response = await fetch(`${base}/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${quiet.server_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ event: EXAMPLE_EVENT, external_id: person, properties: { email } }),
  });
  if (response.status !== 202) throw new Error(`the event was answered ${response.status}`);
  await taken();
  return (relay.firstByteAt.get(email) ?? Number.NaN) - postedAt;
};

const untilSo = async (isSo: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await isSo())) await wait(POLL_MS);
};

/** Nothing is given to tarpits any more, and what they held is known to be lost. */
const leaveTarpits = async ({ ask, tarpit, project }: World): Promise<void> => {
  await ask(
    `update providers.providers set status = 'parked', parked_reason = 'account_blocked' where project_id = $1`,
    [project.project_id],
  );
  await untilSo(async () => {
    // Lanes go on with what they have until the circuit opens.
    tarpit.dropAll();
    const [left] = await ask(
      `select from delivery.sends
      where project_id = $1 and status in ('queued', 'handing_off') and lease_owner is not null limit 1`,
      [project.project_id],
    );
    return left === undefined;
  });
};

/** Some of the tarpits have a backlog, and hold the lanes of one at least. */
const enterTarpits = async (world: World, count: number): Promise<void> => {
  const { installation, project, ask, tarpit } = world;
  for (const provider_id of world.provider_ids.slice(0, count)) {
    const [queued] = await ask<{ count: number }>(
      `select count(*)::integer as count from delivery.sends where provider_id = $1 and status = 'queued'`,
      [provider_id],
    );
    const missing = BACKLOG_SENDS / count - (queued?.count ?? 0);
    await queueSends({ ...world, provider_id }, Math.max(0, missing));
    await ask('delete from providers.paces where provider_id = $1', [provider_id]);
    await ask(
      `update providers.providers set status = 'active', parked_reason = null where provider_id = $1`,
      [provider_id],
    );
    await hint(installation.deps, sendHint(project.project_id, provider_id));
  }
  await untilSo(() => tarpit.held() >= LINKS_PER_PROVIDER_MAX);
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

const beside = async (world: World, mood: Mood, count = 1): Promise<Comparison> => {
  world.tarpit.mood = mood;
  const measured: number[] = [];
  const comparison: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await leaveTarpits(world);
    comparison.push(await sampleRound(world));
    await enterTarpits(world, count);
    measured.push(await sampleRound(world));
  }
  return {
    name: `event accepted → first byte, beside ${BACKLOG_SENDS} sends to ${count} relays that ${mood}, median`,
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
  const comparisons = [
    await beside(world, 'hang'),
    await beside(world, 'drip'),
    await beside(world, 'hang', TARPITS),
    await beside(world, 'drip', TARPITS),
  ];
  world.tarpit.close();
  await world.installation.close();
  world.relay.close();
  return comparisons;
};
