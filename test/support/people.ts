import { hashPassword } from '../../src/admin/password.ts';
import { newId } from '../../src/base/ids.ts';
import type { MemberRole } from '../../src/base/procedure.ts';
import { openSession } from '../../src/admin/sessions.ts';
import type { TestDatabase } from './database.ts';

export const PASSWORD = 'correct horse battery';
let hashed: Promise<string> | undefined;

export type Somebody = { personId: string; email: string; cookie: string };

/** The cookie of a new session of a person. */
export const cookieFor = async ({ deps }: TestDatabase, personId: string): Promise<string> =>
  `trunkline_session=${await openSession(deps, personId)}`;

type Made = { email?: string; projectId?: string; role?: MemberRole; isAdmin?: boolean };

/** A person with PASSWORD who is signed in: of a project, if it is said in which role. */
export const makePerson = async (
  database: TestDatabase,
  { email, projectId, role, isAdmin = false }: Made = {},
): Promise<Somebody> => {
  const personId = newId();
  const address = email ?? `${personId}@people.test`;
  hashed ??= hashPassword(PASSWORD);
  await database.owner.query(
    `insert into admin.people (person_id, email, password_hash, is_admin, created_at)
    values ($1, $2, $3, $4, now())`,
    [personId, address, await hashed, isAdmin],
  );
  if (projectId !== undefined && role !== undefined)
    await database.owner.query('insert into admin.members values ($1, $2, $3, now())', [
      projectId,
      personId,
      role,
    ]);
  return { personId, email: address, cookie: await cookieFor(database, personId) };
};
