import * as automations from '../../src/automations/automations.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import { newEvent } from '../ingest/some_events.ts';
import type { TestDatabase } from '../support/database.ts';
import { followPeople } from './follow_people.ts';

export const PROVIDER = newId();
export const mail = (next: string | null = null) => ({
  kind: 'send_email' as const,
  provider_id: PROVIDER,
  template_id: newId(),
  template_version: 1,
  next,
});
export const copy = (traits: Record<string, string>, next: string | null = null) => ({
  kind: 'update_profile' as const,
  traits_from_event: traits,
  next,
});

/** Takes the address over from the event and sends one mail. */
export const definition = (given: Partial<NewDefinition> = {}): NewDefinition => ({
  trigger: { kind: 'event', event: 'user_signed_up', where: [] },
  settings: { re_entry: 'once' },
  entry: 'address',
  steps: { address: copy({ email: 'email' }, 'mail'), mail: mail() },
  ...given,
});

/** What a worker does for automations in one project, a function per step. */
export const journeysOf = (database: TestDatabase, projectId = newId()) => {
  const within = <T>(work: (scope: Scope) => Promise<T>): Promise<T> =>
    inProject(database.deps, projectId, work);
  const activate = (given: Partial<NewDefinition> = {}, name = 'welcome') =>
    within((scope) => automations.createActive(scope, name, definition(given)));
  const flush = async (...events: EventRow[]): Promise<string> => {
    const flushId = newId();
    await acceptEvents(database.deps.db, projectId, flushId, events);
    return flushId;
  };
  const start = (...flushIds: string[]) =>
    within(async (scope) => {
      await profiles.seeEvents(scope, flushIds);
      return (await automations.startRuns(scope, flushIds)).started.length;
    });
  /** Walks all that is due, however slow the machine is. */
  const advance = () =>
    within((scope) => automations.advance(scope, { msMax: Number.POSITIVE_INFINITY }));
  const select = async (columns: string, table: string) =>
    (
      await database.owner.query(`select ${columns} from ${table} where project_id = $1`, [
        projectId,
      ])
    ).rows;
  /** The decisions of all runs, in order. */
  const decisions = async () =>
    (
      await database.owner.query(
        `select step_id, decision, detail from automations.run_log where project_id = $1 order by run_id, entry`,
        [projectId],
      )
    ).rows;
  /** Lets time go by for whoever waits: as much as if it were that much later for them. */
  const pass = async (interval: string) => {
    await database.owner.query(
      `update automations.runs set wake_at = wake_at - $2::interval, waits_until = waits_until - $2::interval,
        started_at = started_at - $2::interval
      where project_id = $1`,
      [projectId, interval],
    );
  };
  const merge = () => followPeople(database, projectId);
  /** Walks whatever is due until nothing is. */
  const settle = async () => {
    await merge();
    for (let more = true; more;) more = (await advance()).isMore;
  };
  /** Takes events in, starts what they start and walks it. */
  const tell = async (...events: EventRow[]) => {
    const started = await start(await flush(...events));
    await settle();
    return started;
  };
  /** Links a device to the person whom events are about. */
  const link = (anonymous_id: string) =>
    within(async (scope) => {
      const external_id = newEvent().external_id ?? '';
      const wish = { anonymous_id, external_id, source: 'alias', key_type: 'server' } as const;
      return profiles.linkPeople(scope, wish, async (inner, moved) => {
        await automations.followLink(inner, moved);
      });
    });
  const names = async () => (await decisions()).map(({ decision }) => decision as string);
  return {
    projectId,
    within,
    activate,
    flush,
    start,
    advance,
    select,
    decisions,
    pass,
    merge,
    settle,
    tell,
    names,
    link,
  };
};
