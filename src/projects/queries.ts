import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db, Scope } from '../base/db.ts';
import { KEY_KINDS } from '../base/caller.ts';
import type { KeyKind } from '../base/caller.ts';

const Project = z.strictObject({ project_id: z.uuid(), name: z.string() });
const Key = z.strictObject({
  project_id: z.uuid(),
  key_id: z.uuid(),
  kind: z.enum(KEY_KINDS),
});
const ListedKey = z.strictObject({
  key_id: z.uuid(),
  kind: z.enum(KEY_KINDS),
  last_four: z.string(),
  created_at: z.date(),
  revoked_at: z.date().nullable(),
});
/** A key as people see it: never its token, of which only the last four characters are kept. */
export type ListedKey = z.output<typeof ListedKey>;

export const insertProject = ({ tx, projectId }: Scope, name: string) =>
  tx.query(sql.unsafe`
    insert into projects.projects (project_id, name, created_at) values (${projectId}, ${name}, now())
  `);

export const setProjectName = ({ tx, projectId }: Scope, name: string) =>
  tx.query(sql.unsafe`
    update projects.projects set name = ${name} where project_id = ${projectId}
  `);

export type KeyRow = {
  keyId: string;
  kind: KeyKind;
  keyHash: Buffer;
  lastFour: string;
};

export const insertKey = ({ tx, projectId }: Scope, { keyId, kind, keyHash, lastFour }: KeyRow) =>
  tx.query(sql.unsafe`
    insert into projects.api_keys (project_id, key_id, kind, key_hash, last_four, created_at)
    values (${projectId}, ${keyId}, ${kind}, ${sql.binary(keyHash)}, ${lastFour}, now())
  `);

export const findLiveKey = (db: Db, keyHash: Buffer) =>
  db.maybeOne(sql.type(Key)`
    select project_id, key_id, kind from projects.api_keys
    where key_hash = ${sql.binary(keyHash)} and revoked_at is null
  `);

/** The project's keys, live and revoked, the newest first: ids are time-ordered. */
export const listKeys = (
  db: Db,
  projectId: string,
  { limit, beforeId }: { limit: number; beforeId: string | null },
) => {
  const earlier = beforeId ? sql.fragment`and key_id < ${beforeId}` : sql.fragment``;
  return db.any(sql.type(ListedKey)`
    select key_id, kind, last_four, created_at, revoked_at from projects.api_keys
    where project_id = ${projectId} ${earlier}
    order by key_id desc
    limit ${limit}
  `);
};

export const setRevoked = ({ tx, projectId }: Scope, keyId: string) =>
  tx.query(sql.unsafe`
    update projects.api_keys set revoked_at = now()
    where project_id = ${projectId} and key_id = ${keyId} and revoked_at is null
  `);

export const findListedKey = (db: Db, projectId: string, keyId: string) =>
  db.maybeOne(sql.type(ListedKey)`
    select key_id, kind, last_four, created_at, revoked_at from projects.api_keys
    where project_id = ${projectId} and key_id = ${keyId}
  `);

export const findProject = (db: Db, projectId: string) =>
  db.maybeOne(
    sql.type(
      Project,
    )`select project_id, name from projects.projects where project_id = ${projectId}`,
  );

/** Every project of the installation, the newest first: ids are time-ordered. */
export const listProjects = (
  db: Db,
  { limit, beforeId }: { limit: number; beforeId: string | null },
) => {
  const earlier = beforeId ? sql.fragment`where project_id < ${beforeId}` : sql.fragment``;
  return db.any(sql.type(Project)`
    select project_id, name from projects.projects ${earlier}
    order by project_id desc
    limit ${limit}
  `);
};

export const findProjectByName = (db: Db, name: string) =>
  db.maybeOne(sql.type(Project)`
    select project_id, name from projects.projects where name = ${name} order by created_at limit 1
  `);
