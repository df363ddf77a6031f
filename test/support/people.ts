import { randomBytes, scryptSync } from 'node:crypto';
import { newId } from '../../src/base/ids.ts';
import type { MemberRole } from '../../src/base/procedure.ts';
import { openSession } from '../../src/admin/sessions.ts';
import type { TestDatabase } from './database.ts';

export const PASSWORD = 'correct horse battery';

/**
 * As it would be stored, at a thousandth of the cost: what is stored says what it takes to compare. Only here: what
 * the service hashes itself costs what it costs everywhere.
 */
export const hashCheaply = (password: string): string => {
  const [cost, salt] = [{ N: 16, r: 8, p: 1 }, randomBytes(16)];
  const key = scryptSync(password, salt, 32, cost).toString('base64url');
  return `scrypt$N=${cost.N},r=${cost.r},p=${cost.p}$${salt.toString('base64url')}$${key}`;
};

export type SignedInPerson = { personId: string; email: string; cookie: string };

/** Opens a session of a person; returns both of its halves as one text. */
export const cookieFor = async ({ deps }: TestDatabase, personId: string): Promise<string> => {
  const { token, proof } = await openSession(deps, personId);
  return `trunkline_session=${token}.${proof}`;
};

type Made = {
  email?: string;
  password?: string;
  projectId?: string;
  role?: MemberRole;
  isAdmin?: boolean;
};

/** A person who is signed in: of a project, if it is said in which role. */
export const makePerson = async (
  database: TestDatabase,
  { email, password = PASSWORD, projectId, role, isAdmin = false }: Made = {},
): Promise<SignedInPerson> => {
  const personId = newId();
  const address = email ?? `${personId}@people.test`;
  await database.owner.query(
    `insert into admin.people (person_id, email, password_hash, is_admin, created_at)
    values ($1, $2, $3, $4, now())`,
    [personId, address, hashCheaply(password), isAdmin],
  );
  if (projectId !== undefined && role !== undefined)
    await database.owner.query('insert into admin.members values ($1, $2, $3, now())', [
      projectId,
      personId,
      role,
    ]);
  return { personId, email: address, cookie: await cookieFor(database, personId) };
};
