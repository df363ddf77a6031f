import { NEVER } from '../support/database.ts';
import { refreshSegments } from '../support/refresh_segments.ts';
import { inProject } from '../../src/base/db.ts';
import { createProject } from '../../src/projects/projects.ts';
import { noteChanges } from '../../src/profiles/profiles.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { Definition } from '../../src/segments/schema.ts';
import { createSegment, findSegment } from '../../src/segments/segments.ts';
import type { NewDefinition } from '../../src/segments/segments.ts';
import { newId } from '../../src/base/ids.ts';
import { checkpoint, openInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import type { Comparison } from './measure.ts';

const ROUNDS = 5;
const PEOPLE = 500;
const DAYS = 20;
const GROWTH = 10;

const ORDERED: NewDefinition[] = [7, 14, undefined].map((within_days) => ({
  where: {
    kind: 'event',
    event: 'order_completed',
    where: [],
    count: { is: 'at_least', value: 3 },
    ...(within_days === undefined ? {} : { within_days }),
  },
}));

/** People with a trait, and how many days of orders, one a day, for one in so many of them. */
type Past = { people: number; days: number; every: number };

/** An id made of the project and a text, as SQL. */
const idOf = (text: string): string =>
  `overlay(overlay(md5($1::uuid::text || ${text}) placing '7' from 13) placing '8' from 17)::uuid`;

/** The same for an event: ids of events begin with their times, and a fill reads them in that order. */
const eventIdOf = (text: string, at: string): string =>
  `overlay(${idOf(text)}::text placing regexp_replace(
    lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0'), '^(.{8})', '\\1-') from 1)::uuid`;

/** Writes a past that was processed, in few statements. */
const writePast = (url: string, projectId: string, { people, days, every }: Past) =>
  withClient(url, async (client) => {
    await client.query("select set_config('trunkline.project_id', $1, false)", [projectId]);
    await client.query(
      `insert into profiles.profiles (project_id, profile_id, traits, created_at, updated_at)
       select $1::uuid, ${idOf('who')}, jsonb_build_object('plan', case who % 2 when 0 then 'pro' else 'free' end),
         now(), now()
       from generate_series(1, $2::integer) as who`,
      [projectId, people],
    );
    await client.query(
      `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id,
         first_seen_at, last_seen_at)
       select $1::uuid, ${idOf('who')}, 'external', 'user-' || who, ${idOf('who')}, ${idOf('who')}, now(), now()
       from generate_series(1, $2::integer) as who`,
      [projectId, people],
    );
    await client.query(
      `insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, source)
       select $1::uuid, ${eventIdOf("who || '/' || day", 'now() - make_interval(days => day)')},
         now() - make_interval(days => day), now(),
         'order_completed', 'user-' || who, 'server'
       from generate_series($4::integer, $2::integer, $4::integer) as who, generate_series(1, $3::integer) as day`,
      [projectId, people, days, every],
    );
    await client.query('analyze');
  });

const make = ({ deps }: Installation, projectId: string, given: NewDefinition) =>
  inProject(deps, projectId, (scope) =>
    createSegment(scope, {
      segmentId: newId(),
      name: 'bench',
      definition: Definition.parse(given),
    }),
  );
const refresh = async ({ deps }: Installation, projectId: string): Promise<void> => {
  while (await refreshSegments(deps, projectId, { signal: NEVER }));
};

/** How long it takes to look at people again, beside people whose timelines are a tenth as long. */
export const segmentRefreshes = async (): Promise<Comparison> => {
  const installation = await openInstallation();
  const sides = [];
  for (const days of [DAYS * GROWTH, DAYS]) {
    const { project_id } = await createProject(installation.deps, `${days} days`);
    await writePast(installation.url, project_id, { people: PEOPLE, days, every: 1 });
    for (const definition of ORDERED) await make(installation, project_id, definition);
    await refresh(installation, project_id);
    const profileIds = await withClient(installation.url, async (client) => {
      const { rows } = await client.query<{ profile_id: string }>(
        'select profile_id from profiles.profiles where project_id = $1',
        [project_id],
      );
      return rows.map(({ profile_id }) => profile_id);
    });
    sides.push({ project_id, profileIds, times: [] as number[] });
  }
  await withClient(installation.url, (client) => client.query('vacuum analyze'));
  for (let round = 0; round <= ROUNDS * 2; round += 1) {
    for (const { project_id, profileIds, times } of sides) {
      await inProject(installation.deps, project_id, (scope) => noteChanges(scope, profileIds));
      const startedAt = performance.now();
      await refresh(installation, project_id);
      if (round > 0) times.push(performance.now() - startedAt);
    }
  }
  await installation.close();
  const [grown, once] = sides;
  return {
    name: `${PEOPLE} people looked at again, with ${GROWTH}x longer timelines`,
    unit: 'ms',
    measured: grown?.times ?? [],
    comparedWith: 'the same with 1x',
    comparison: once?.times ?? [],
    good: { atMost: 1.2 },
  };
};

const FILLED_PEOPLE = 1_000_000;
const SHARE = 10;
/** Says how far it is, at most this often. */
const PROGRESS_EVERY_MS = 5_000;

/** Fills a segment and says how far it is; answers people a second. */
const fill = async (installation: Installation, people: number): Promise<number> => {
  const { deps, url } = installation;
  const { project_id } = await createProject(deps, `${people} people`);
  await writePast(url, project_id, { people, days: 1, every: 4 });
  await checkpoint(url);
  const startedAt = performance.now();
  const { segment_id } = await make(installation, project_id, {
    where: {
      kind: 'all',
      of: [
        { kind: 'trait', trait: 'plan', test: { is: 'equals', value: 'pro' } },
        { kind: 'event', event: 'order_completed', where: [], count: { is: 'at_least', value: 1 } },
      ],
    },
  });
  let toldAt = startedAt;
  while (await refreshSegments(deps, project_id, { signal: NEVER })) {
    if (performance.now() - toldAt < PROGRESS_EVERY_MS) continue;
    toldAt = performance.now();
    const row = await inProject(deps, project_id, (scope) => findSegment(scope, segment_id));
    console.log(`  ${row?.status}: ${row?.examined_count} of ${people} people looked at`);
  }
  return (people * 1_000) / (performance.now() - startedAt);
};

/** How many people a second a new segment looks at, beside a project with a tenth of them. */
export const segmentFills = async (): Promise<Comparison> => {
  const installation = await openInstallation();
  const comparison = [];
  for (let round = 0; round < 3; round += 1)
    comparison.push(await fill(installation, FILLED_PEOPLE / SHARE));
  const measured = [await fill(installation, FILLED_PEOPLE)];
  await installation.close();
  return {
    name: 'a new segment fills: 1,000,000 people, 250,000 events counted from the past',
    unit: 'people/s',
    measured,
    comparedWith: 'the same with a tenth of people and events',
    comparison: comparison.toSorted((a, b) => a - b).slice(1, 2),
    good: { atLeast: 0.8 },
  };
};
