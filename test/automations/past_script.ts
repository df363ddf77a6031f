// The past of some people as a script, and a definition that is simulated over it today.
import type { NewDefinition } from '../../src/automations/schema.ts';
import { newId } from '../../src/base/ids.ts';
import type { Condition } from '../../src/segments/schema.ts';
import type { TestDatabase } from '../support/database.ts';
import { virtualClock } from '../support/virtual_clock.ts';
import { mail } from './journeys.ts';
import { addressOf, DAY_MS, isDevice, pastWorld } from './past_world.ts';
import type { Happening } from './past_world.ts';

const HOUR_MS = 3_600_000;
/** When the past ends: today, at a full hour. */
const NOW = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS);
export const ago = (days: number) => new Date(NOW.getTime() - days * DAY_MS);

export const event = (name: string, who: string, days: number, occurredDays = days): Happening => ({
  kind: 'event',
  at: ago(days),
  eventId: newId(),
  who,
  name,
  properties: {},
  occurredAt: ago(occurredDays),
});
export const trait = (who: string, days: number, traits: Record<string, string>): Happening => ({
  kind: 'trait',
  at: ago(days),
  who,
  traits,
});

type Clock = ReturnType<typeof virtualClock>;

/** A past with an address for each person, and a definition that is simulated over it today. */
const beginIn = async (database: TestDatabase, clock: Clock) => {
  const world = pastWorld(database, clock);
  await world.setClock(ago(40));
  const live = async (...script: Happening[]) => {
    const people = new Set(script.map(({ who }) => who).filter((who) => !isDevice(who)));
    for (const who of people) await world.perform(trait(who, 40, { email: addressOf(who) }));
    await world.live(script, NOW);
  };
  const simulated = async (given: Partial<NewDefinition>) => {
    const id = await world.activate('Simulated', {
      trigger: { kind: 'event', event: 'go' },
      settings: { re_entry: 'every_time' },
      entry: 'm',
      steps: { m: mail() },
      ...given,
    });
    return world.simulated(id);
  };
  const asking = (where: Condition): Partial<NewDefinition> => ({
    entry: 'ask',
    steps: {
      ask: {
        kind: 'branch',
        branches: [{ when: where, next: 'm' }],
        otherwise: null,
      },
      m: mail(),
    },
  });
  return { ...world, live, simulated, asking };
};

/** Pasts in the database of a test file, whose clock they set. */
export const pastsIn = (database: TestDatabase) => {
  const clock = virtualClock(database);
  return () => beginIn(database, clock);
};
