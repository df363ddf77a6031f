import { startScratchPostgres } from '../../src/runtime/scratch_postgres.ts';
import { DURABLE } from './installation.ts';
import { ask, openGrown, SUBJECTS, subjectsOf } from './growth_world.ts';
import type { Grown, Subject } from './growth_world.ts';
import { median } from './measure.ts';
import type { Comparison } from './measure.ts';

const ROUNDS = 5;
/** How often everybody is measured in a round. */
const VISITS = 3;
const GROWTH = 10;
const PEOPLE = 2_000;
const EVENTS = 100_000;
const OWN_EVENTS = 400;
const MONTH_MS = 30 * 86_400_000;
const LIMIT = 50;

/** One person in one database, and the link between their two ids while there is one. */
type Case = Grown & Subject & { linkId: string };

const readPage = async (of: Case, query: string): Promise<void> => {
  const path = `/v1/profiles/external_id:${of.externalId}/events?limit=${LIMIT}${query}`;
  const { items } = await ask(of, path);
  if (items?.length !== LIMIT) throw new Error(`${path} answered ${items?.length} entries`);
};

let changes = 0;

/** What is done with each person in turn; the link is there from the first to the last. */
const actions: Record<string, (of: Case) => Promise<void>> = {
  link: async (of) => {
    const body = { anonymous_id: of.anonymousId, external_id: of.externalId };
    of.linkId = (await ask(of, '/v1/identify/alias', body)).link?.id ?? '';
  },
  'timeline page': (of) => readPage(of, ''),
  'timeline page of half a year ago': (of) =>
    readPage(of, `&before=${new Date(Date.now() - 6 * MONTH_MS).toISOString()}`),
  identify: async (of) => {
    const body = { external_id: of.externalId, traits: { plan: `plan-${(changes += 1)}` } };
    await ask(of, '/v1/identify', body);
  },
  undo: async (of) => {
    await ask(of, `/v1/identity-links/${of.linkId}/undo`, {});
  },
};

/** Milliseconds of each action, one person of one case after another. */
const sample = async (of: Case, times: Record<string, number[]>): Promise<void> => {
  for (const [name, act] of Object.entries(actions)) {
    const startedAt = performance.now();
    await act(of);
    (times[name] ??= []).push(performance.now() - startedAt);
  }
};

type Side = { world: Grown; subjects: Subject[]; times: Record<string, number[]> };
const sideOf = (world: Grown, ownEvents: number): Side => ({
  world,
  subjects: subjectsOf(ownEvents),
  times: {},
});

const runRound = async (sides: Side[]): Promise<void> => {
  for (let visit = 0; visit < SUBJECTS * VISITS; visit += 1) {
    for (const { world, subjects, times } of visit % 2 === 0 ? sides : sides.toReversed()) {
      const subject = subjects[visit % SUBJECTS];
      if (subject) await sample({ ...world, ...subject, linkId: '' }, times);
    }
  }
};

/** The same actions on two sides, person by person in turns; a median per action, side and round. */
const compare = async (
  grown: Side,
  once: Side,
  [what, comparedWith]: [string, string],
): Promise<Comparison[]> => {
  const medians = Object.keys(actions).map((name) => ({
    name: `${name}, ${what}`,
    unit: 'ms',
    measured: [] as number[],
    comparedWith,
    comparison: [] as number[],
    good: { atMost: 1.2 },
  }));
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const side of [grown, once]) side.times = {};
    await runRound([grown, once]);
    if (round < 0) continue; // Warming up.
    for (const [at, name] of Object.keys(actions).entries()) {
      medians[at]?.measured.push(median(grown.times[name] ?? []));
      medians[at]?.comparison.push(median(once.times[name] ?? []));
    }
  }
  return medians;
};

/** What is done with a person, while the data of others grows, and while their own does. */
export const growth = async (): Promise<Comparison[]> => {
  const server = await startScratchPostgres({
    ...DURABLE,
    shared_buffers: '512MB',
    max_wal_size: '4GB',
  });
  const most = OWN_EVENTS * GROWTH;
  const others = { people: PEOPLE, events: EVENTS };
  const small = await openGrown(server.url, 'small', { ...others, ownEvents: [OWN_EVENTS] });
  const large = await openGrown(server.url, 'large', {
    people: PEOPLE * GROWTH,
    events: EVENTS * GROWTH,
    ownEvents: [OWN_EVENTS],
  });
  const own = await openGrown(server.url, 'own', { ...others, ownEvents: [OWN_EVENTS, most] });
  const comparisons = [
    ...(await compare(sideOf(large, OWN_EVENTS), sideOf(small, OWN_EVENTS), [
      `${GROWTH}x other people's data`,
      `${PEOPLE} people with ${EVENTS} events`,
    ])),
    ...(await compare(sideOf(own, most), sideOf(own, OWN_EVENTS), [
      `${GROWTH}x own events`,
      `${OWN_EVENTS} own events`,
    ])),
  ];
  for (const world of [small, large, own]) await world.close();
  await server.stop();
  return comparisons;
};
