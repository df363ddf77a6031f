import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db } from '../base/db.ts';
import { KEY_KINDS } from '../base/caller.ts';
import type { KeyKind } from '../base/caller.ts';

const Project = z.strictObject({ project_id: z.uuid(), name: z.string() });
const Key = z.strictObject({ project_id: z.uuid(), kind: z.enum(KEY_KINDS) });

export const insertProject = (db: Db, projectId: string, name: string) =>
  db.query(sql.unsafe`
    insert into projects.projects (project_id, name, created_at) values (${projectId}, ${name}, now())
  `);

export type KeyRow = {
  projectId: string;
  keyId: string;
  kind: KeyKind;
  keyHash: Buffer;
  lastFour: string;
};

export const insertKey = (db: Db, { projectId, keyId, kind, keyHash, lastFour }: KeyRow) =>
  db.query(sql.unsafe`
    insert into projects.api_keys (project_id, key_id, kind, key_hash, last_four, created_at)
    values (${projectId}, ${keyId}, ${kind}, ${sql.binary(keyHash)}, ${lastFour}, now())
  `);

export const findLiveKey = (db: Db, keyHash: Buffer) =>
  db.maybeOne(sql.type(Key)`
    select project_id, kind from projects.api_keys
    where key_hash = ${sql.binary(keyHash)} and revoked_at is null
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
