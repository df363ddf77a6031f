import type { Deps } from '../base/deps.ts';
import { normaliseEmail } from '../base/email_address.ts';
import { newId } from '../base/ids.ts';
import { hashPassword, isPasswordOf, NOBODYS_HASH, Password } from './password.ts';
import { findByEmail, insertPerson, setPassword } from './queries.ts';

type PeopleDeps = Pick<Deps, 'db'>;
export type Login = { email: string; password: string };

/** The person whose address and password these are, or null. An unknown address takes as long as a wrong password. */
export const checkLogin = async (
  { db }: PeopleDeps,
  { email, password }: Login,
): Promise<string | null> => {
  const person = await findByEmail(db, normaliseEmail(email));
  const isRight = await isPasswordOf(person?.password_hash ?? NOBODYS_HASH, password);
  return person && isRight ? person.person_id : null;
};

/** Makes sure that there is an administrator with this address and this password. */
export const keepAdministrator = async ({ db }: PeopleDeps, login: Login): Promise<void> => {
  const email = normaliseEmail(login.email);
  const password = Password.parse(login.password);
  const known = await findByEmail(db, email);
  if (known && (await isPasswordOf(known.password_hash, password))) return;
  const passwordHash = await hashPassword(password);
  if (known) return setPassword(db, known.person_id, passwordHash);
  await insertPerson(db, { personId: newId(), email, passwordHash, isAdmin: true });
};
