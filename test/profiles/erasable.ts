import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import * as ingest from '../../src/ingest/ingest.ts';
import { alias, identify } from '../../src/profiles/identify.ts';
import { listProfiles } from '../../src/profiles/profiles.ts';
import { askToErase, runErasure } from '../support/erase.ts';
import type { TestDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';

/** A project of its own, and what its server would do in it. */
export const openErasable = (database: TestDatabase) => {
  const projectId = newId();
  const server = { projectId, kind: 'server' } as const;
  const within = <T>(work: (scope: Scope) => Promise<T>) =>
    inProject(database.deps, projectId, work);
  const track = (...events: object[]) =>
    ingest.accept(database.deps, server, {
      events: events.map((one) => ({ event: 'seen', ...one })),
    });
  const work = () => workOn(database, projectId);
  const find = async (by: 'external' | 'anonymous', value: string) =>
    (await within((scope) => listProfiles(scope, { by, value })))[0] ?? null;
  const idOf = async (value: string, by: 'external' | 'anonymous' = 'external') =>
    (await find(by, value))?.id ?? '';
  const tell = (external_id: string, traits: Record<string, string>, anonymous_id?: string) =>
    identify(database.deps, server, {
      external_id,
      traits,
      ...(anonymous_id === undefined ? {} : { anonymous_id }),
    });
  const join = (anonymous_id: string, external_id: string) =>
    alias(database.deps, server, { anonymous_id, external_id });
  const ask = async (value: string, by?: 'anonymous') =>
    askToErase(database, projectId, await idOf(value, by));
  const run = (erasureId: string) => runErasure(database, projectId, erasureId);
  const count = async (table: string) =>
    (await database.owner.query(`select from ${table} where project_id = $1`, [projectId]))
      .rowCount;
  const idOfIdentity = async (kind: 'external' | 'anonymous', value: string) =>
    (await within((scope) => identity.findByValue(scope, kind, value)))?.identity_id ?? '';
  return { projectId, idOfIdentity, within, track, work, find, idOf, tell, join, ask, run, count };
};

/** Words that no other test uses. */
export const unique = (word: string) => `${word}-${newId()}`;
