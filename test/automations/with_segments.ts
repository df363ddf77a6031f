// Automations and segments of one project, and what a worker does for both.
import { setTimeout as wait } from 'node:timers/promises';
import * as automations from '../../src/automations/automations.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { inProject } from '../../src/base/db.ts';
import { identify } from '../../src/profiles/identify.ts';
import type { Condition } from '../../src/segments/schema.ts';
import { newEvent } from '../ingest/some_events.ts';
import { create, refreshOn } from '../segments/recount.ts';
import type { TestDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { journeysOf } from './journeys.ts';

export const onPlan = (plan: string): Condition => ({
  kind: 'trait',
  trait: 'plan',
  test: { is: 'equals', value: plan },
});

/** Says on the profile that somebody came through. */
export const note = (next: string | null = null) => ({
  kind: 'update_profile' as const,
  traits: { came: true },
  next,
});

export const withSegments = (database: TestDatabase) => {
  const journeys = journeysOf(database);
  const { projectId, settle } = journeys;
  const caller = { projectId, kind: 'server' as const };
  const read = () =>
    inProject(database.deps, projectId, (scope) => automations.readSegmentEntries(scope));
  /** What a worker does until nothing is due. */
  const work = async (): Promise<void> => {
    await refreshOn(database, projectId);
    while ((await read()).isMore);
    await settle();
  };
  const tell = async (external_id: string, traits: Record<string, string>): Promise<void> => {
    await identify(database.deps, caller, { external_id, traits });
    // Two changes of one moment have no order: time goes by between them.
    await wait(1);
    await work();
  };
  const flushOf = (name: string, external_id = 'ann') =>
    journeys.flush(newEvent({ name, external_id, properties: '{}' }));
  /** An event of somebody's, with everything that a worker does about it. */
  const happen = async (name: string, external_id = 'ann'): Promise<void> => {
    await flushOf(name, external_id);
    await workOn(database, projectId);
    await work();
  };
  const segment = async (where: Condition): Promise<string> => {
    const { segment_id } = await create(database, projectId, where);
    await refreshOn(database, projectId);
    return segment_id;
  };
  const live = (given: Partial<NewDefinition>, name = 'Live'): Promise<string> =>
    inProject(database.deps, projectId, (scope) =>
      automations.createActive(scope, name, {
        trigger: { kind: 'manual' },
        settings: { re_entry: 'every_time' },
        entry: 'note',
        steps: { note: note() },
        ...given,
      }),
    );
  const runs = async (): Promise<
    { who: string; trigger_entry: number | null; outcome: string }[]
  > =>
    (
      await database.owner.query(
        `select value as who, trigger_entry::int, outcome from automations.runs
         join identity.identities using (project_id, identity_id)
         where project_id = $1 and not is_test order by run_id`,
        [projectId],
      )
    ).rows;
  const whoRan = async (): Promise<string[]> => (await runs()).map(({ who }) => who);
  return { ...journeys, caller, flushOf, happen, read, work, tell, segment, live, runs, whoRan };
};
