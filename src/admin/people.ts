import { inInstallation } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { normaliseEmail } from '../base/email_address.ts';
import { newId } from '../base/ids.ts';
import { Refusal } from '../base/refusal.ts';
import { hashPassword, isPasswordOf, NOBODYS_HASH, Password } from './password.ts';
import {
  countOnlyOwned,
  deletePerson,
  findByEmail,
  holdAdministrators,
  insertPerson,
  setPassword,
} from './queries.ts';

type PeopleDeps = Pick<Deps, 'db' | 'audit'>;
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
export const keepAdministrator = async (deps: PeopleDeps, login: Login): Promise<void> => {
  const email = normaliseEmail(login.email);
  const password = Password.parse(login.password);
  const known = await findByEmail(deps.db, email);
  if (known && (await isPasswordOf(known.password_hash, password))) return;
  const passwordHash = await hashPassword(password);
  await inInstallation(deps, async (tx) => {
    if (known) await setPassword(tx, known.person_id, { passwordHash, keptSession: null });
    else await insertPerson(tx, { personId: newId(), email, passwordHash, isAdmin: true });
  });
};

/** Removes an account. An installation keeps an administrator, and each project an owner. */
export const removePerson = (deps: PeopleDeps, personId: string): Promise<void> =>
  inInstallation(deps, async (tx) => {
    const admins = await holdAdministrators(tx);
    if (admins.length === 1 && admins[0]?.person_id === personId) throw new Refusal('last_admin');
    if ((await countOnlyOwned(tx, personId)) > 0) throw new Refusal('last_owner');
    if (!(await deletePerson(tx, personId)))
      throw new Refusal('not_found', { detail: 'There is no such person.' });
  });
