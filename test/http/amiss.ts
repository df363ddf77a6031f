import { sessionTurnsOf } from '../../src/base/session_turns.ts';
import type { RefusalName } from '../../src/base/refusal.ts';
import { QUEUED_EVENTS_MAX } from '../../src/ingest/flusher.ts';
import { BATCH_EVENTS_MAX } from '../../src/ingest/schema.ts';
import { holdSessions } from '../support/held_sessions.ts';
import type { Surroundings } from './provoke_base.ts';

/** Makes something fail for every request; returns what restores it. */
type Begin = (around: Surroundings) => Promise<() => Promise<unknown>>;

/** Takes the service's rights to the rooms. */
const takeRooms: Begin = async ({ database: { owner } }) => {
  const { rows } = await owner.query<{ names: string }>(`
    select string_agg(quote_ident(nspname), ', ') as names from pg_namespace
    where has_schema_privilege('trunkline_runtime', oid, 'usage')
    and nspname !~ '^(pg_.*|information_schema|public|base|projects)$'`);
  const names = rows[0]?.names ?? '';
  await owner.query(`revoke usage on schema ${names} from trunkline_runtime`);
  return () => owner.query(`grant usage on schema ${names} to trunkline_runtime`);
};

/** Fills the queue of events that wait to be stored. */
const fillQueue: Begin = async ({ database: { owner }, api }) => {
  const events = Array.from({ length: BATCH_EVENTS_MAX }, () => ({ event: 'a', external_id: 'b' }));
  const call = { key: api.project.server_key, body: JSON.stringify({ events }) };
  const post = () => api.call('POST', '/v1/events/batch', call);
  await owner.query('begin');
  await owner.query('lock table ingest.events in access exclusive mode');
  // One more than may wait, besides those that are being stored.
  const requests = Math.ceil(QUEUED_EVENTS_MAX / BATCH_EVENTS_MAX) + 1;
  const waiting = Array.from({ length: requests }, post);
  await Promise.race(waiting);
  return async () => {
    await owner.query('commit');
    await Promise.all(waiting);
  };
};

/** Fills the queues of events and of sessions. */
const overload: Begin = async (around) => {
  const { database, api } = around;
  const giveBack = holdSessions(sessionTurnsOf(database.deps), api.project.project_id);
  const ends = [await fillQueue(around), giveBack];
  return () => Promise.all(ends.map((end) => end()));
};

/** Makes each request of a project take a second, which is more than a session of `elsewhere.slow` may take. */
const slowDown: Begin = async ({ database: { owner } }) => {
  await owner.query(`
    create schema at_once;
    grant usage on schema at_once to public;
    alter function base.use_project(uuid) set schema at_once;
    create function base.use_project(project_id uuid) returns text language sql volatile
    return (select at_once.use_project(project_id) from pg_sleep(1));
    grant execute on function base.use_project(uuid) to public`);
  return () =>
    owner.query(`
      drop function base.use_project(uuid);
      alter function at_once.use_project(uuid) set schema base;
      drop schema at_once`);
};

/** What is amiss where these are answered. It takes as long for all endpoints as for one: they are asked together. */
export const amiss: Partial<Record<RefusalName, Begin>> = {
  internal_error: takeRooms,
  database_timeout: slowDown,
  overloaded: overload,
  // Nothing is, but it has to be waited for.
  request_timeout: () => Promise.resolve(() => Promise.resolve()),
};
