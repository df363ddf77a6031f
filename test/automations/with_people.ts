// An automation with as many people inside as a test asks for.
import { continueCommand } from '../../src/automations/commands/commands.ts';
import { listCommands } from '../../src/automations/commands/queries.ts';
import type { CommandKind } from '../../src/automations/commands/queries.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import type { TestDatabase } from '../support/database.ts';
import type { HttpsSink } from '../support/https_sink.ts';
import { withEndpoint } from './with_endpoint.ts';
import { note } from './with_segments.ts';

export const waiting = (more: NewDefinition['steps'] = {}): NewDefinition => ({
  trigger: { kind: 'event', event: 'trial_started' },
  settings: { re_entry: 'every_time' },
  entry: 'at',
  steps: { at: { kind: 'delay', duration: 'P1D', next: 'told' }, told: note(), ...more },
});

/** An automation with so many people at its delay, all of them copies of one run. */
export const withPeople = async (database: TestDatabase, sink: HttpsSink, people: number) => {
  const world = await withEndpoint(database, sink);
  const id = await world.activate(waiting());
  await world.happen('trial_started');
  await database.owner.query(
    `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, entry_key, status,
      step_id, wake_at, waits_until, started_at, source)
    select project_id, gen_random_uuid(), automation_id, version, identity_id, 'copy ' || copy, status, step_id,
      wake_at, waits_until, started_at, source
    from automations.runs cross join generate_series(2, $2) as copy where automation_id = $1`,
    [id, people],
  );
  const count = async (column: 'status' | 'version'): Promise<Record<string, number>> => {
    const { rows } = await database.owner.query<{ value: string; runs: number }>(
      `select ${column}::text as value, count(*)::integer as runs from automations.runs
      where automation_id = $1 group by 1 order by 1`,
      [id],
    );
    return Object.fromEntries(rows.map(({ value, runs }) => [value, runs]));
  };
  const { within } = world;
  /** Does the next piece of a command. */
  const proceed = async (kind: CommandKind): Promise<{ isMore: boolean }> => {
    const { isMore } = await within((scope) => continueCommand(scope, id, kind));
    return { isMore };
  };
  const commands = () => within((scope) => listCommands(scope, id));
  return { ...world, id, count, proceed, commands };
};
