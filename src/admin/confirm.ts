import type { Deps } from '../base/deps.ts';
import type { Person } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { isPasswordOf } from './password.ts';
import { findPasswordHash } from './queries.ts';
import { sessionHashOf } from './sessions.ts';
import { attemptConfirmation } from './throttle.ts';

type Asked = { person: Person; password: string | undefined; sessionToken: string };

/** Refuses unless this is the person's password. Wrong ones are counted for the session alone. */
export const confirmPassword = async (
  deps: Deps,
  { person, password, sessionToken }: Asked,
): Promise<void> => {
  if (password === undefined) throw new Refusal('password_needed');
  const personId = person.person_id;
  const session = { sessionHash: sessionHashOf(deps, sessionToken), personId };
  const isRight = await attemptConfirmation(deps, session, async () => {
    const known = await findPasswordHash(deps.db, personId);
    return known && (await isPasswordOf(known.password_hash, password)) ? true : null;
  });
  if (!isRight) throw new Refusal('wrong_password');
};
