import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Service } from '../../src/runtime/start_service.ts';
import { replacedIsRestored } from '../support/script/link_properties.ts';
import { sameInAnyOrder, stormKeepsOrder, undoneIsNever } from '../support/script/properties.ts';
import type { Stage } from '../support/script/stage.ts';
import { throughDoors } from '../support/script/through_doors.ts';
import { testWorld } from '../support/world.ts';

const RUNS = 20;
const TEST_TIMEOUT_MS = 120_000;
/** A run that fails is not tried smaller: what processes do at once does not come again by a seed alone. */
const PARAMETERS = { numRuns: RUNS, endOnFailure: true };

/** All scripts come from one address. */
const NO_LIMITS = {
  RATE_LIMIT_ADDRESS: '0',
  UNIT_LIMIT_ADDRESS: '0',
  UNIT_LIMIT_ANONYMOUS: '0',
};

const world = testWorld();
let services: Service[] = [];
let stage: Stage;

beforeAll(async () => {
  services = await Promise.all([
    world.start('api', NO_LIMITS),
    world.start('api', NO_LIMITS),
    world.start('worker'),
    world.start('worker'),
  ]);
  stage = throughDoors(world, services.slice(0, 2));
});

afterAll(async () => {
  expect(
    services.map((service) => service.lastError()),
    'no process complains of anything',
  ).toEqual(services.map(() => null));
  const { rows } = await world.owner.query(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  expect(rows, 'no transaction waits for a deadlock to be found').toEqual([{ deadlocks: 0 }]);
});

test(
  'two apis and two workers: the same in any order, with duplicates, gives the same people',
  { timeout: TEST_TIMEOUT_MS },
  () => fc.assert(sameInAnyOrder(stage), PARAMETERS),
);

test(
  'two apis and two workers: a link that is undone was never there, whatever came at the same time',
  { timeout: TEST_TIMEOUT_MS },
  () => fc.assert(undoneIsNever(stage), PARAMETERS),
);

test(
  'two apis and two workers: in a storm of links and undoings every profile is the fold of its identities',
  { timeout: TEST_TIMEOUT_MS },
  () => fc.assert(stormKeepsOrder(stage), PARAMETERS),
);

test(
  'two apis and two workers: a server’s link that is undone gives a device back to a browser’s',
  { timeout: TEST_TIMEOUT_MS },
  () => fc.assert(replacedIsRestored(stage), PARAMETERS),
);
