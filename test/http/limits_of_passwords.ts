import { expect } from 'vitest';
import { countAccessRequest } from '../../src/admin/access_throttle.ts';
import { rememberDevice } from '../../src/admin/devices.ts';
import { attemptConfirmation, attemptSignIn } from '../../src/admin/throttle.ts';
import { countTestEmails } from '../../src/base/test_emails.ts';
import { newId } from '../../src/base/ids.ts';
import type { TestDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { times } from './of_size.ts';

type Trials = Record<string, (value: number) => Promise<void>>;
type From = { email: string; address: string; deviceCookie: string | null };

const wrong = () => Promise.resolve(null);
let networks = 0;
/** An account and an address that nothing was counted for. */
const fresh = (): From => {
  networks += 1;
  const address = `2001:db8:${networks.toString(16)}::1`;
  return { email: `${newId()}@people.test`, address, deviceCookie: null };
};

/** Counted by Postgres for all processes: at the bound an attempt is made, one past it it is refused. */
export const limitsOfPasswords = ({ database }: { database: TestDatabase }): Trials => {
  const bound =
    (given: () => Promise<Partial<From>>): Trials[string] =>
    async (value) => {
      const shared = await given();
      const attempt = () => attemptSignIn(database.deps, { ...fresh(), ...shared }, wrong);
      for (const _ of times(value, () => null)) expect(await attempt()).toBeNull();
      await expect(attempt()).rejects.toMatchObject({ reason: 'too_many_sign_ins' });
    };
  const known = async () => {
    const person = await makePerson(database);
    const { cookie } = await rememberDevice(database.deps, person, null);
    return { email: person.email, deviceCookie: cookie };
  };
  const requests =
    (of: () => { email: string; address: string }): Trials[string] =>
    async (value) => {
      for (const _ of times(value, () => null)) await countAccessRequest(database.deps, of());
      await expect(countAccessRequest(database.deps, of())).rejects.toMatchObject({
        reason: 'rate_limited',
      });
    };
  const [one, other] = [fresh(), fresh()];
  return {
    'Wrong passwords for an account from one address': bound(() => Promise.resolve(fresh())),
    'Wrong passwords from one address': bound(() => Promise.resolve({ address: fresh().address })),
    'Wrong passwords for an account from all unknown browsers': bound(() =>
      Promise.resolve({ email: fresh().email }),
    ),
    'Wrong passwords for an account from a browser that signed in before': bound(known),
    'Wrong passwords inside one session': async (value) => {
      const sessionHash = database.deps.keys.hash('session', newId());
      const session = { sessionHash, personId: newId() };
      const confirm = () => attemptConfirmation(database.deps, session, wrong);
      for (const _ of times(value, () => null)) expect(await confirm()).toBeNull();
      await expect(confirm()).rejects.toMatchObject({ reason: 'too_many_confirmations' });
    },
    'Browsers that an account signed in from': async (value) => {
      const { personId, email } = await makePerson(database);
      for (const _ of times(value + 1, () => null))
        await rememberDevice(database.deps, { personId, email }, null);
      const { rowCount } = await database.owner.query(
        'select from admin.known_devices where person_id = $1',
        [personId],
      );
      expect(rowCount).toBe(value);
    },
    'Accounts that know one browser': async (value) => {
      const people = await Promise.all(times(value + 1, () => makePerson(database)));
      let cookie: string | null = null;
      for (const [at, person] of people.entries()) {
        ({ cookie } = await rememberDevice(database.deps, person, cookie));
        expect(cookie.split('.')).toHaveLength(Math.min(at + 1, value));
      }
    },
    'Passwords of one person that are checked or wait': async (value) => {
      const { promise, resolve } = Promise.withResolvers<null>();
      const personId = newId();
      const confirm = () => {
        const sessionHash = database.deps.keys.hash('session', newId());
        return attemptConfirmation(database.deps, { sessionHash, personId }, () => promise);
      };
      const taken = times(value, confirm);
      const one = confirm();
      // Which of them comes too late is for their statements to decide.
      const refused = await Promise.race([...taken, one]).catch((error: unknown) => error);
      expect(refused).toMatchObject({ reason: 'overloaded' });
      resolve(null);
      const settled = await Promise.allSettled([...taken, one]);
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(value);
    },
    'Test emails of a person or a key': async (value) => {
      const actor = { kind: 'person', id: newId() } as const;
      const audit = { auditId: newId(), actor, action: 'a', targets: {}, requestId: null };
      const send = () =>
        countTestEmails(database.deps.db, { projectId: newId(), audit, emails: 1 });
      for (const _ of times(value, () => null)) await send();
      await expect(send()).rejects.toMatchObject({ reason: 'rate_limited' });
    },
    'Test emails of a project': async (value) => {
      const projectId = newId();
      const send = () => countTestEmails(database.deps.db, { projectId, emails: 1 });
      for (const _ of times(value, () => null)) await send();
      await expect(send()).rejects.toMatchObject({ reason: 'rate_limited' });
    },
    'Requests for access from one address': requests(() => ({ ...fresh(), address: one.address })),
    'Requests for access of one email address': requests(() => ({
      ...fresh(),
      email: other.email,
    })),
  };
};
