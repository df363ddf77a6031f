import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { newId } from '../../src/base/ids.ts';
import { plan, sendHint } from '../../src/delivery/delivery.ts';
import { startSmtpSink } from '../support/smtp_sink.ts';
import { median, now } from './measure.ts';
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

type Person = { profile_id: string; identity_id: string; email: string };
type Around = { world: World; sink: Awaited<ReturnType<typeof startSmtpSink>> };

/** Milliseconds from planning an email of another automation to its first byte at the relay. */
const sample = async (
  { world, sink }: Around,
  { profile_id: profileId, identity_id: identityId, email: recipient }: Person,
  category: 'transactional' | 'marketing',
): Promise<number> => {
  const { project, provider_id: providerId, template_id: templateId } = world;
  const { deps } = world.installation;
  const isTo = ({ to }: { to: readonly string[] }) => to.includes(recipient);
  const before = sink.mails.filter(isTo).length;
  const startedAt = now();
  await inProject(deps, project.project_id, (scope) =>
    plan(scope, [
      {
        automationId: newId(),
        runId: newId(),
        stepId: 'x',
        identityId,
        profileId,
        providerId,
        templateId,
        templateVersion: 1,
        eventId: newId(),
        eventOccurredAt: new Date(),
        recipient,
        category,
      },
    ]),
  );
  await hint(deps, sendHint(project.project_id, providerId));
  for (;;) {
    const mails = await sink.waitFor(sink.mails.length + 1);
    const found = mails.filter(isTo)[before];
    if (found) return (found.firstByteAt ?? Number.NaN) - startedAt;
  }
};

/** What a transactional email waits for behind 100,000 marketing emails at a rate, and with none. */
export const priority = async (): Promise<Comparison[]> => {
  const sink = await startSmtpSink();
  const world = await openWorld(sink.settings);
  const { project, provider_id } = world;
  const wake = () => hint(world.installation.deps, sendHint(project.project_id, provider_id));
  await world.installation.start('worker', { NODE_EXTRA_CA_CERTS: sink.caFile });
  await queueSends(world, 3 * SAMPLES);
  await wake();
  await sink.waitFor(3 * SAMPLES);
  const people = await world.ask<Person>(
    `select profile_id, identity_id, email from profiles.profiles
    join identity.identities using (project_id, profile_id)`,
  );
  await world.ask('update providers.providers set rate_per_second = $1', [RATE_PER_SECOND]);
  const samplesOf = async (category: 'transactional' | 'marketing'): Promise<number[]> => {
    const samples: number[] = [];
    for (const person of people.splice(0, SAMPLES))
      samples.push(await sample({ world, sink }, person, category));
    return samples;
  };
  const idle = await samplesOf('transactional');
  await queueSends(world, BACKLOG_SENDS);
  await wake();
  const overtaking = await samplesOf('transactional');
  const others = await samplesOf('marketing');
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
