import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { createProject } from '../../src/projects/projects.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { Definition } from '../../src/segments/schema.ts';
import type { Condition } from '../../src/segments/schema.ts';
import { createSegment } from '../../src/segments/segments.ts';
import { NEVER } from '../support/database.ts';
import { refreshSegments } from '../support/refresh_segments.ts';
import { workOn } from '../support/work_on.ts';
import { checkpoint, openInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import type { Comparison } from './measure.ts';

const ROUNDS = 5;
/** Until each connection keeps the plans of its statements, as those of a worker do. */
const WARM_UP_ROUNDS = 3;
export const PEOPLE = 3_000;
export const SEGMENTS = 60;
const BATCH_EVENTS = 50;

const ofTrait = (at: number): Condition => ({
  kind: 'trait',
  trait: `trait_${at}`,
  test: { is: 'at_least', value: 1 },
});
const ofEvent = (at: number): Condition => ({
  kind: 'event',
  event: `event_${at}`,
  where: [],
  count: { is: 'at_least', value: 1 },
  within_days: 30,
});

/** The first asks about a trait and an event, each other one about a trait or an event of its own. */
export const conditionOf = (at: number): Condition => {
  if (at === 0) return { kind: 'any', of: [ofTrait(0), ofEvent(0)] };
  return at % 2 === 0 ? ofTrait(at) : ofEvent(at);
};

type Side = { projectId: string; topics: number; times: number[] };

/** Makes the people of a project, known by their ids, and so many segments. */
export const makePeople = async (
  { deps, url }: Installation,
  projectId: string,
  segments: number,
): Promise<void> => {
  await withClient(url, async (client) => {
    await client.query("select set_config('trunkline.project_id', $1, false)", [projectId]);
    await client.query(
      `insert into profiles.profiles (project_id, profile_id, created_at, updated_at)
       select $1::uuid, gen_random_uuid(), now(), now() from generate_series(1, $2::integer)`,
      [projectId, PEOPLE],
    );
    await client.query(
      `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id,
         first_seen_at, last_seen_at)
       select project_id, profile_id, 'external', 'user-' || row_number() over (), profile_id, profile_id, now(), now()
       from profiles.profiles where project_id = $1`,
      [projectId],
    );
  });
  for (let at = 0; at < segments; at += 1)
    await inProject(deps, projectId, (scope) =>
      createSegment(scope, {
        segmentId: newId(),
        name: 'bench',
        definition: Definition.parse({ where: conditionOf(at) }),
      }),
    );
  await refresh(deps, projectId);
};

const refresh = async (deps: Installation['deps'], projectId: string): Promise<void> => {
  while (await refreshSegments(deps, projectId, { signal: NEVER }));
};

/** Half of the people get a trait, half of them have an event; it is of one of so many topics. */
const change = async (
  { deps, url }: Installation,
  { projectId, topics }: Side,
  round: number,
): Promise<void> => {
  const topicOf = (who: number) => who % topics;
  const isOfTrait = (who: number) =>
    topicOf(who) === 0 ? Math.floor(who / topics) % 2 === 0 : topicOf(who) % 2 === 0;
  const people = Array.from({ length: PEOPLE }, (_, at) => at + 1);
  const told = people.filter(isOfTrait);
  await withClient(url, async (client) => {
    await client.query("select set_config('trunkline.project_id', $1, false)", [projectId]);
    await client.query(
      `select from unnest($2::text[], $3::text[]) as told (who, trait)
       join identity.identities as known on known.project_id = $1 and known.value = told.who
       cross join lateral profiles.change_traits(
         project_id => $1, identity_id => known.identity_id, traits => jsonb_build_object(told.trait, $4::integer),
         set_at => now(), authority => 'server', at => now())`,
      [
        projectId,
        told.map((who) => `user-${who}`),
        told.map((who) => `trait_${topicOf(who)}`),
        round % 2,
      ],
    );
    const events = people
      .filter((who) => !isOfTrait(who))
      .map((who) => ({ event: `event_${topicOf(who)}`, external_id: `user-${who}` }));
    for (let at = 0; at < events.length; at += BATCH_EVENTS)
      await accept(
        deps,
        { projectId, kind: 'server' },
        { events: events.slice(at, at + BATCH_EVENTS) },
      );
    await workOn({ deps, owner: client } as never, projectId);
  });
};

/** How long the segments of people who changed take where one of sixty asks for it, and where each asks for some. */
export const segmentsBeside = async (): Promise<Comparison[]> => {
  const installation = await openInstallation();
  const side = async (segments: number, topics: number): Promise<Side> => {
    const { project_id: projectId } = await createProject(
      installation.deps,
      `${segments} segments`,
    );
    await makePeople(installation, projectId, segments);
    return { projectId, topics, times: [] };
  };
  const one = await side(1, 1);
  const same = await side(SEGMENTS, 1);
  const spread = await side(SEGMENTS, SEGMENTS);
  await withClient(installation.url, (client) => client.query('vacuum analyze'));
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1)
    for (const each of [one, same, spread]) {
      await change(installation, each, round);
      await checkpoint(installation.url);
      const startedAt = performance.now();
      await refresh(installation.deps, each.projectId);
      if (round >= WARM_UP_ROUNDS) each.times.push(performance.now() - startedAt);
    }
  await installation.close();
  const row = (what: string, { times }: Side): Comparison => ({
    name: `${PEOPLE} changed people looked at with ${SEGMENTS} segments, ${what}`,
    unit: 'ms',
    measured: times,
    comparedWith: 'the same with one segment',
    comparison: one.times,
    good: { atMost: 1.3 },
  });
  return [row('of which one asks for it', same), row('each of which asks for some', spread)];
};
