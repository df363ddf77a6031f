import type { Deps } from '../base/deps.ts';
import type { Person } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { isPasswordOf } from './password.ts';
import { findPasswordHash } from './queries.ts';
import { makeThrottle } from './throttle.ts';

type Asked = { person: Person; password: string | undefined; address: string };

/** Refuses unless this is the person's password. Wrong ones count as wrong sign-ins do. */
export const confirmPassword = async (
  deps: Deps,
  { person, password, address }: Asked,
): Promise<void> => {
  if (password === undefined) throw new Refusal('password_needed');
  const throttle = deps.resources.of(makeThrottle, deps);
  const isRight = await throttle.attempt({ email: person.email, address }, async () => {
    const known = await findPasswordHash(deps.db, person.person_id);
    return known && (await isPasswordOf(known.password_hash, password)) ? true : null;
  });
  if (!isRight) throw new Refusal('wrong_password');
};
