import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { alias, identify } from '../../src/profiles/identify.ts';
import { listProfiles, unlinkPeople } from '../../src/profiles/profiles.ts';
import { pageTimeline } from '../../src/profiles/timeline.ts';
import processEvents from '../../tasks/ingest/process_events.ts';
import { NEVER, testDatabase } from '../support/database.ts';

const RUNS = 12;
const TEST_TIMEOUT_MS = 120_000;

const database = testDatabase();

/** Each device belongs to one person, so that no order can make a conflict. */
const OWNERS: Record<string, string> = { d1: 'ann', d2: 'ann', d3: 'bob' };
const DEVICES = Object.keys(OWNERS);
const PEOPLE = ['ann', 'bob'];

const DAY_MS = 86_400_000;
const base = Date.now() - DAY_MS;
const timeOf = (minute: number): string => new Date(base + minute * 60_000).toISOString();

type Traits = Record<string, string | number | null>;
type Op =
  | {
      kind: 'track';
      who: { external_id?: string; anonymous_id?: string };
      minute: number;
      id: string;
    }
  | {
      kind: 'identify';
      device: string | null;
      person: string;
      traits: Traits;
      minute: number;
      key: 'publishable' | 'server';
    }
  | { kind: 'alias'; device: string };

const minute = fc.integer({ min: 0, max: 500 });
const device = fc.constantFrom(...DEVICES);
const person = fc.constantFrom(...PEOPLE);
const traits: fc.Arbitrary<Traits> = fc.dictionary(
  fc.constantFrom('plan', 'city', 'email'),
  fc.constantFrom('a@example.com', 'b@example.com', null),
  { maxKeys: 3 },
);

const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({
    kind: fc.constant('track' as const),
    who: fc.oneof(
      person.map((external_id) => ({ external_id })),
      device.map((anonymous_id) => ({ anonymous_id })),
      device.map((anonymous_id) => ({ anonymous_id, external_id: OWNERS[anonymous_id] ?? '' })),
    ),
    minute,
    id: fc.uuid(),
  }),
  fc
    .record({
      device: fc.option(device),
      person,
      traits,
      minute,
      key: fc.constantFrom('publishable' as const, 'server' as const),
    })
    .map(({ device: of, ...rest }) => ({
      kind: 'identify' as const,
      ...rest,
      device: of,
      person: of === null ? rest.person : (OWNERS[of] ?? ''),
    })),
  device.map((of) => ({ kind: 'alias' as const, device: of })),
);

const process = async (projectId: string): Promise<void> => {
  const deps = { ...database.deps, workerId: () => 'test', jobs: database.owner, signal: NEVER };
  await processEvents(deps)({ project_id: projectId }, {} as never);
};

const perform = async (projectId: string, done: Op): Promise<void> => {
  const server = { projectId, kind: 'server' } as const;
  if (done.kind === 'track') {
    const event = {
      event: 'page_viewed',
      ...done.who,
      occurred_at: timeOf(done.minute),
      message_id: done.id,
    };
    await accept(database.deps, server, { events: [event] });
  } else if (done.kind === 'identify') {
    const { person: external_id, device: of, traits: told, minute: when, key } = done;
    await identify(
      database.deps,
      { projectId, kind: key },
      {
        external_id,
        ...(of === null ? {} : { anonymous_id: of }),
        traits: told,
        occurred_at: timeOf(when),
      },
    );
  } else {
    await alias(database.deps, server, {
      anonymous_id: done.device,
      external_id: OWNERS[done.device] ?? '',
    });
  }
};

/** Everything that is known of everybody, without the ids that each run makes anew. */
const worldOf = (projectId: string) =>
  inProject(database.deps, projectId, async (scope) => {
    const world: unknown[] = [];
    for (const [by, values] of [
      ['external', PEOPLE],
      ['anonymous', DEVICES],
    ] as const) {
      for (const value of values) {
        const [profile] = await listProfiles(scope, { by, value });
        if (!profile) throw new Error(`nobody is ${by} ${value}`);
        const { id, updated_at: _, ...known } = profile;
        const { items } = await pageTimeline(scope, id, { limit: 500 });
        const times = items.map(({ occurred_at }) => occurred_at).toSorted();
        world.push([by, value, known, times]);
      }
    }
    return world;
  });

/** Everybody has been seen once, so that no link is the first to know of somebody. */
const everybody: Op[] = [
  ...DEVICES.map((anonymous_id) => ({ anonymous_id })),
  ...PEOPLE.map((external_id) => ({ external_id })),
].map((who) => ({ kind: 'track', who, minute: 250, id: newId() }));

/** Two at a time, as two processes would, with the worker in between. */
const play = async (projectId: string, ops: readonly Op[]): Promise<void> => {
  const rest = ops.values();
  const lane = async (): Promise<void> => {
    for (const one of rest) {
      await perform(projectId, one);
      await process(projectId);
    }
  };
  await Promise.all([lane(), lane()]);
  await process(projectId);
};

const shuffled = (ops: readonly Op[], order: readonly number[]): Op[] =>
  ops
    .map((one, at) => ({ one, rank: order[at % order.length] ?? 0, at }))
    .toSorted((a, b) => a.rank - b.rank || a.at - b.at)
    .map(({ one }) => one);

test(
  'the same events, links and traits in any order, with duplicates, two at a time, give the same people',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(op, { minLength: 1, maxLength: 14 }),
        fc.array(fc.nat(), { minLength: 5, maxLength: 30 }),
        async (ops, order) => {
          const [first, second] = [newId(), newId()];
          await play(first, everybody);
          await play(second, everybody);
          await play(first, ops);
          await play(second, shuffled([...ops, ...ops.slice(0, 4)], order));
          expect(await worldOf(second)).toEqual(await worldOf(first));
        },
      ),
      { numRuns: RUNS },
    );
  },
);

const undoAll = (projectId: string, of: string): Promise<void> =>
  inProject(database.deps, projectId, async (scope) => {
    const links = await identity.listLinks(scope, {
      limit: 50,
      beforeId: null,
      profileId: null,
      status: 'active',
    });
    for (const link of links.filter(({ anonymous_id }) => anonymous_id === of)) {
      await unlinkPeople(scope, link.link_id, 'test');
    }
  });

test(
  'a link that is undone leaves what there would be without it, including what came meanwhile',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const plain = op.filter(
      (one) => one.kind === 'track' || (one.kind === 'identify' && one.device === null),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(plain, { maxLength: 6 }),
        fc.array(plain, { maxLength: 6 }),
        fc.array(plain, { maxLength: 6 }),
        async (before, meanwhile, after) => {
          const [linked, never] = [newId(), newId()];
          await play(linked, [...everybody, ...before]);
          await play(linked, [{ kind: 'alias', device: 'd1' }]);
          await play(linked, meanwhile);
          await undoAll(linked, 'd1');
          await play(linked, after);
          await play(never, [...everybody, ...before, ...meanwhile, ...after]);
          expect(await worldOf(linked)).toEqual(await worldOf(never));
        },
      ),
      { numRuns: RUNS },
    );
  },
);
