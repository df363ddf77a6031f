import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { newId } from '../../src/base/ids.ts';
import { plan, sendHint } from '../../src/delivery/delivery.ts';
import { startSmtpSink } from '../support/smtp_sink.ts';
import { median } from './measure.ts';
import type { Comparison } from './measure.ts';
import { openWorld, queueSends } from './sending.ts';
import type { World } from './sending.ts';

const BACKLOG_SENDS = 100_000;
const RATE_PER_SECOND = 10;
const SAMPLES = 20;
const OVERTAKES_MS_MAX = 2_000;
/** Two automations share the rate, and a claim takes a second of it ahead. */
const FAIR_SHARE_MS_MAX = 3_000;
const RATIO_MAX = 10;

const now = (): number => performance.timeOrigin + performance.now();

type Asked = { category: 'transactional' | 'marketing'; automationId?: string };

/** Milliseconds from planning an email of a person of its own to its first byte at the relay. */
const sample = async (
  { world, sink }: { world: World; sink: Awaited<ReturnType<typeof startSmtpSink>> },
  { category, automationId = newId() }: Asked,
): Promise<number> => {
  const { project, provider_id: providerId, template_id: templateId } = world;
  const { deps } = world.installation;
  const recipient = `${newId()}@people.test`;
  const startedAt = now();
  await inProject(deps, project.project_id, async (scope) => {
    const [profile] = await world.ask<{ profile_id: string }>(
      'select profile_id from profiles.profiles limit 1',
    );
    await plan(scope, {
      automationId,
      runId: newId(),
      stepId: 'x',
      identityId: null,
      profileId: profile?.profile_id ?? newId(),
      providerId,
      templateId,
      templateVersion: 1,
      eventId: newId(),
      eventOccurredAt: new Date(),
      recipient,
      category,
    });
  });
  await hint(deps, sendHint(project.project_id, providerId));
  for (let count = 1; ; count += 1) {
    const found = (await sink.waitFor(count)).find(({ to }) => to.includes(recipient));
    if (found) return (found.firstByteAt ?? Number.NaN) - startedAt;
  }
};

/** What a transactional email waits for behind 100,000 marketing emails at a rate, and with none. */
export const priority = async (): Promise<Comparison[]> => {
  const sink = await startSmtpSink();
  const world = await openWorld(sink.settings);
  await queueSends(world, 1);
  await world.installation.start('worker', { NODE_EXTRA_CA_CERTS: sink.caFile });
  await sink.waitFor(1);
  await world.ask('update providers.providers set rate_per_second = $1', [RATE_PER_SECOND]);
  const samplesOf = async (asked: Asked): Promise<number[]> => {
    const samples: number[] = [];
    for (let at = 0; at < SAMPLES; at += 1) samples.push(await sample({ world, sink }, asked));
    return samples;
  };
  const idle = await samplesOf({ category: 'transactional' });
  await queueSends(world, BACKLOG_SENDS);
  const { project, provider_id } = world;
  await hint(world.installation.deps, sendHint(project.project_id, provider_id));
  const overtaking = await samplesOf({ category: 'transactional' });
  const others = await samplesOf({ category: 'marketing' });
  await world.installation.close();
  world.relay.close();
  await sink.close();
  const behind = `behind ${BACKLOG_SENDS} marketing emails at ${RATE_PER_SECOND}/s`;
  return [
    {
      name: `transactional email → first byte ${behind}, slowest of ${SAMPLES}`,
      unit: 'ms',
      measured: [Math.max(...overtaking)],
      comparedWith: 'without a backlog',
      comparison: [Math.max(...idle)],
      good: { atMost: RATIO_MAX },
      bound: { atMost: OVERTAKES_MS_MAX },
    },
    {
      name: `first marketing email of another automation → first byte ${behind}, median`,
      unit: 'ms',
      measured: [median(others)],
      comparedWith: 'transactional email without a backlog',
      comparison: [median(idle)],
      good: { atMost: RATIO_MAX },
      bound: { atMost: FAIR_SHARE_MS_MAX },
    },
  ];
};
