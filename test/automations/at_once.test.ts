// What two workers decide of one person at the same moment is what one of them would have decided after the other.
import { describe, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { identify } from '../../src/profiles/identify.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import { listWaiting } from '../base/connections.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { copy, journeysOf, mail } from './journeys.ts';

const database = testDatabase();

const isWaited = async (): Promise<boolean> => (await listWaiting(database.owner)).length > 0;

/** Does two pieces of work, the second of which begins when the first is done and not yet committed. */
const overlapping = async <T>(
  projectId: string,
  first: (scope: Scope) => Promise<T>,
  second: (scope: Scope) => Promise<T>,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<T[]> => {
  const { deps } = database;
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const one = inProject(deps, projectId, async (scope) => {
    const value = await first(scope);
    begun.resolve();
    await released.promise;
    return value;
  });
  await begun.promise;
  await between();
  let isSecondDone = false;
  const other = inProject(deps, projectId, second).finally(() => {
    isSecondDone = true;
  });
  // Either it waits for the first, or it needs nothing of it.
  await until(
    'the second has come as far as it can',
    async () => isSecondDone || (await isWaited()),
  );
  released.resolve();
  return Promise.all([one, other]);
};

describe('re-entry', () => {
  test.each([{ re_entry: 'once' as const }, { re_entry: { once_per: 'P1D' } }])(
    '%j lets in one run of a person, whichever of their identifiers come at once',
    async (settings) => {
      const journeys = journeysOf(database);
      const { projectId } = journeys;
      await identify(
        database.deps,
        { projectId, kind: 'server' },
        { external_id: 'ann', anonymous_id: 'device', traits: {} },
      );
      await journeys.activate({ settings, entry: 'a', steps: { a: copy({ plan: 'plan' }) } });
      const known = await journeys.flush(newEvent({ external_id: 'ann' }));
      const unknown = await journeys.flush(newEvent({ external_id: null, anonymous_id: 'device' }));
      const start = (flushId: string) => async (scope: Scope) => {
        await profiles.seeEvents(scope, [flushId]);
        return (await automations.startRuns(scope, [flushId])).started.length;
      };
      const started = await overlapping(projectId, start(known), start(unknown));
      expect(started).toEqual([1, 0]);
      expect(await journeys.select('run_id', 'automations.runs')).toHaveLength(1);
    },
  );
});

describe('a frequency cap', () => {
  test('is not passed by two runs of a person that are walked at once', async () => {
    const journeys = journeysOf(database);
    const { projectId } = journeys;
    const capped = {
      settings: {
        re_entry: 'every_time' as const,
        frequency_cap: { sends: 1, per: 'P1D', over: 'skip' as const },
      },
      entry: 'wait',
      steps: { wait: { kind: 'delay' as const, duration: 'P1D', next: 'mail' }, mail: mail() },
    };
    await journeys.activate(capped, 'one');
    await journeys.activate(capped, 'two');
    await identify(
      database.deps,
      { projectId, kind: 'server' },
      { external_id: 'ann', traits: { email: 'ann@example.com' } },
    );
    await journeys.tell(newEvent({ external_id: 'ann' }));
    const runs = await journeys.select('run_id', 'automations.runs');
    expect(runs).toHaveLength(2);
    const wake = (at: number) =>
      database.owner.query(
        `update automations.runs
        set wake_at = now() - interval '1 ms', waits_until = now() - interval '1 ms' where run_id = $1`,
        [runs[at].run_id],
      );
    await wake(0);
    await overlapping(projectId, automations.advance, automations.advance, () => wake(1));
    await journeys.settle();
    expect(await journeys.select('status', 'delivery.sends')).toHaveLength(1);
    expect(await journeys.names()).toContain('frequency_cap_skipped');
  });
});
