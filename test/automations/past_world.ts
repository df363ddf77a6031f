// Two projects with the same people, segments and automations, in which the same happens at the same moments: one
// where an automation is live, and one where nobody has switched it on.
import * as automations from '../../src/automations/automations.ts';
import { getAutomation } from '../../src/automations/queries.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { simulate } from '../../src/automations/simulate.ts';
import { createEndpoint } from '../../src/automations/endpoints.ts';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { newEvent } from '../ingest/some_events.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { identify } from '../../src/profiles/identify.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import { createSegment } from '../../src/segments/segments.ts';
import { Definition as SegmentDefinition } from '../../src/segments/schema.ts';
import type { Condition } from '../../src/segments/schema.ts';
import * as suppression from '../../src/suppression/suppression.ts';
import { listTenantTables } from '../support/catalogue.ts';
import { NEVER } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { refreshSegments } from '../support/refresh_segments.ts';
import { followPeople } from './follow_people.ts';
import { vault } from './with_endpoint.ts';

/** Something that happens to somebody at a moment. */
export type Happening = { at: Date } & (
  | {
      kind: 'event';
      eventId: string;
      who: string;
      name: string;
      /** Who recorded it: a client, if nothing else is given. */
      source?: EventRow['source'];
      properties: Record<string, string | number>;
      occurredAt: Date;
    }
  | { kind: 'trait'; who: string; traits: Record<string, string | number | null> }
  | { kind: 'link'; who: string; device: string; by?: 'publishable' | 'server' }
  | { kind: 'unlink'; who: string; device: string }
  | { kind: 'unsubscribe' | 'resubscribe' | 'suppress' | 'lift'; who: string }
);

export const DAY_MS = 86_400_000;
export const addressOf = (who: string): string => `${who}@example.com`;
export const isDevice = (who: string): boolean => who.startsWith('d');

type Clock = { set: (at: Date) => Promise<unknown> };

export const pastWorld = (database: TestDatabase, clock: Clock, projectId = newId()) => {
  const { deps, owner } = database;
  const caller = { projectId, kind: 'server' as const };
  const within = <T>(work: (scope: Scope) => Promise<T>): Promise<T> =>
    inProject(deps, projectId, work);
  let now = new Date(0);
  const setClock = async (at: Date): Promise<void> => {
    now = at;
    await clock.set(at);
  };

  /** As if providers and endpoints took what they are given at once; answers whether they were given anything. */
  const takeAll = async (): Promise<boolean> => {
    await owner.query(
      `update delivery.sends set status = 'accepted', accepted_at = $2, handed_off_at = $2, delivered_at = $2
       where project_id = $1 and status = 'queued'`,
      [projectId, now],
    );
    const { rows } = await owner.query<{ run_id: string }>(
      `update automations.calls set status = 'delivered', http_status = 200
       where project_id = $1 and status = 'queued' returning run_id`,
      [projectId],
    );
    await owner.query(
      `update automations.runs set wake_at = $3 where project_id = $1 and run_id = any ($2)`,
      [projectId, rows.map(({ run_id }) => run_id), now],
    );
    return rows.length > 0;
  };
  const settle = async (): Promise<void> => {
    await followPeople(database, projectId);
    do while ((await within(automations.advance)).isMore);
    while (await takeAll());
  };
  /** What workers do a moment after something happened. */
  const follow = async (): Promise<void> => {
    await workOn(database, projectId);
    await settle();
    await setClock(new Date(now.getTime() + 1));
    await workOn(database, projectId);
    await refreshSegments(deps, projectId, { signal: NEVER, now: () => now });
    while ((await within((scope) => automations.readSegmentEntries(scope))).isMore);
    await settle();
  };
  const nextWake = async (): Promise<number> => {
    const { rows } = await owner.query<{ at: Date | null }>(
      `select min(wake_at) as at from automations.runs where project_id = $1 and status = 'active'`,
      [projectId],
    );
    return rows[0]?.at?.getTime() ?? Infinity;
  };
  /** Lets time go by until a moment: whoever is due goes on, and on each midnight windows move. */
  const passUntil = async (end: Date): Promise<void> => {
    for (;;) {
      const midnight = (Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS;
      const wake = Math.max(await nextWake(), now.getTime());
      const next = Math.min(midnight, wake);
      if (next >= end.getTime()) return setClock(end);
      await setClock(new Date(next));
      if (next === midnight) await follow();
      else await settle();
    }
  };

  const followLink = async (scope: Scope, moved: profiles.MovedIdentity): Promise<void> => {
    await automations.followLink(scope, moved);
  };
  const findLink = async (device: string): Promise<string | undefined> => {
    const { rows } = await owner.query<{ link_id: string }>(
      `select link_id from identity.links where project_id = $1 and anonymous_id = $2 and status = 'active'`,
      [projectId, device],
    );
    return rows[0]?.link_id;
  };
  const change = (who: string, work: (scope: Scope) => Promise<unknown>) =>
    within((scope) => profiles.changeAddresses(scope, [addressOf(who)], work));
  const said = (who: string) => ({ email: addressOf(who), source: 'api' });

  const perform = async (one: Happening): Promise<void> => {
    switch (one.kind) {
      case 'event': {
        const { who, name, source = 'server', properties, occurredAt, eventId: event_id } = one;
        const by = isDevice(who)
          ? { external_id: null, anonymous_id: who }
          : { external_id: who, anonymous_id: null };
        const occurred_at = occurredAt.toISOString();
        const given = {
          name,
          source,
          event_id,
          occurred_at,
          properties: JSON.stringify(properties),
        };
        await acceptEvents(deps.db, projectId, newId(), [newEvent({ ...by, ...given })]);
        return;
      }
      case 'trait':
        return identify(deps, caller, {
          external_id: one.who,
          traits: one.traits,
          occurred_at: one.at.toISOString(),
        });
      case 'link': {
        const { who: external_id, device: anonymous_id, by: key_type = 'server' } = one;
        const wish = { external_id, anonymous_id, source: 'identify', key_type } as const;
        await within((scope) => profiles.linkPeople(scope, wish, followLink));
        return;
      }
      case 'unlink': {
        const linkId = await findLink(one.device);
        if (linkId)
          await within((scope) => profiles.unlinkPeople(scope, linkId, 'console', followLink));
        return;
      }
      case 'unsubscribe':
        await change(one.who, (scope) => suppression.unsubscribe(scope, said(one.who)));
        return;
      case 'resubscribe':
        await change(one.who, (scope) => suppression.resubscribe(scope, said(one.who)));
        return;
      case 'suppress':
        await change(one.who, (scope) =>
          suppression.suppress(scope, { ...said(one.who), reason: 'manual' }),
        );
        return;
      case 'lift':
        await change(one.who, (scope) =>
          suppression.lift(scope, { ...said(one.who), note: '', liftsComplaints: false }),
        );
    }
  };
  /** Lets everything happen in its order, and time go by to the end. */
  const live = async (script: readonly Happening[], end: Date): Promise<void> => {
    for (const one of script) {
      await passUntil(one.at);
      await perform(one);
      await follow();
    }
    await passUntil(end);
  };

  const segment = async (name: string, where: Condition): Promise<string> => {
    const segmentId = newId();
    const definition = SegmentDefinition.parse({ where });
    await within((scope) => createSegment(scope, { segmentId, name, definition }));
    await follow();
    return segmentId;
  };
  const endpoint = async (): Promise<string> => {
    const endpointId = newId();
    const made = { endpointId, name: 'CRM', url: 'https://crm.example.com/hooks' };
    await within((scope) => createEndpoint(scope, vault, made));
    return endpointId;
  };
  const activate = (name: string, definition: NewDefinition) =>
    within((scope) => automations.createActive(scope, name, definition));
  const simulated = async (automationId: string) => {
    const kept = await within((scope) => getAutomation(scope, automationId));
    return simulate(deps, projectId, kept, { days: 30, version: 1 });
  };
  return {
    projectId,
    within,
    setClock,
    follow,
    live,
    perform,
    segment,
    endpoint,
    activate,
    simulated,
  };
};

/** Makes a project that holds the same as another, under the same ids. */
export const copyProject = async ({ owner }: TestDatabase, from: string): Promise<string> => {
  const to = newId();
  await owner.query(`set session_replication_role = replica`);
  for (const table of await listTenantTables(owner)) {
    if (table.startsWith('virtual.')) continue;
    const { rows } = await owner.query<{ name: string }>(
      `select quote_ident(attname) as name from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''
       and attname <> 'project_id'`,
      [table],
    );
    const others = rows.map(({ name }) => name);
    const [columns, values] = [
      ['project_id', ...others],
      ['$2::uuid', ...others],
    ];
    await owner.query(
      `insert into ${table} (${columns.join(', ')}) select ${values.join(', ')} from ${table} where project_id = $1`,
      [from, to],
    );
  }
  await owner.query(`set session_replication_role = default`);
  return to;
};
