import type { Limit } from '../base/route.ts';
import { REQUESTS_PER_EMAIL_MAX, REQUESTS_PER_ORIGIN_MAX } from './access_throttle.ts';
import { ACCOUNTS_PER_DEVICE_MAX, DEVICES_PER_ACCOUNT_MAX } from './devices.ts';
import { PLACES_PER_PERSON_MAX } from './password_queues.ts';
import {
  CONFIRMATIONS_PER_SESSION_MAX,
  SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX,
  SIGN_INS_PER_ACCOUNT_MAX,
  SIGN_INS_PER_DEVICE_MAX,
  SIGN_INS_PER_ORIGIN_MAX,
} from './throttle.ts';

const SIGN_IN = 'Console and admin API';

const wrongPasswords = (of: string, value: number): Limit => ({
  name: `Wrong passwords ${of}`,
  value,
  unit: 'per 15 minutes',
  where: SIGN_IN,
});

/** What people who sign in can run into, for the documents. */
export const signInLimits: readonly Limit[] = [
  wrongPasswords('for an account from one address', SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX),
  wrongPasswords('from one address', SIGN_INS_PER_ORIGIN_MAX),
  wrongPasswords('for an account from all unknown browsers', SIGN_INS_PER_ACCOUNT_MAX),
  wrongPasswords('for an account from a browser that signed in before', SIGN_INS_PER_DEVICE_MAX),
  wrongPasswords('inside one session', CONFIRMATIONS_PER_SESSION_MAX),
  {
    name: 'Browsers that an account signed in from',
    value: DEVICES_PER_ACCOUNT_MAX,
    unit: 'items',
    where: SIGN_IN,
  },
  {
    name: 'Accounts that know one browser',
    value: ACCOUNTS_PER_DEVICE_MAX,
    unit: 'items',
    where: SIGN_IN,
  },
  {
    name: 'Passwords of one person that are checked or wait',
    value: PLACES_PER_PERSON_MAX,
    unit: 'items',
    where: `${SIGN_IN}, each process`,
  },
  {
    name: 'Requests for access from one address',
    value: REQUESTS_PER_ORIGIN_MAX,
    unit: 'an hour',
    where: SIGN_IN,
  },
  {
    name: 'Requests for access of one email address',
    value: REQUESTS_PER_EMAIL_MAX,
    unit: 'an hour',
    where: SIGN_IN,
  },
];
