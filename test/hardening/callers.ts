// API keys.
import type { Area } from './promised.ts';
import { publishable } from './publishable_area.ts';
import { strangers } from './strangers.ts';

const keys: Area = {
  area: 'Keys',
  promises: [
    {
      says: 'a key is a typed prefix, 160 random bits in base62 and a checksum',
      shown: {
        'projects/token.test.ts': [
          'says its kind, and has 33 characters behind its prefix',
          'no two tokens are alike, and every character of the alphabet is used',
        ],
      },
    },
    {
      says: 'a typing error, and a key in a text, are recognised without asking anybody',
      shown: {
        'projects/token.test.ts': [
          'is refused after any single character has changed',
          'is refused with two neighbours swapped',
          'is refused under the prefix of another kind',
        ],
        'hardening/keys.test.ts': [
          'a key that leaked is found in any text by its form, and nothing else is taken for one',
        ],
      },
    },
    {
      says: 'only a peppered hash and the last four characters are stored, and a key is shown once',
      shown: {
        'projects/projects.test.ts': [
          'a key is kept only as a hash that needs the master key, and its last four characters',
        ],
        'projects/keys.test.ts': [
          'keys are listed newest first, live and revoked, and never with their token',
        ],
        'admin/account.test.ts': ['a key of the API takes the password again, and is shown once'],
      },
    },
    {
      says: 'several keys of a kind live at once, so that they can be rotated',
      shown: {
        'projects/keys.test.ts': [
          'rotation: the new key works beside the old one, until the old one is revoked',
        ],
      },
    },
    {
      says: 'a revoked key stops within 60 seconds in every process, caches included',
      shown: {
        'flows/two_apis.test.ts': [
          'a key that is revoked is refused by every process within a minute, and stays refused',
        ],
        'projects/projects.test.ts': [
          'a revoked key stops working within the time that it may be known',
          'a use of a known key does not make it known for longer',
        ],
      },
    },
    {
      says: 'a malformed key is refused before any database work',
      shown: { 'projects/projects.test.ts': ['a malformed token costs no statement'] },
    },
    {
      says: 'checks come in the order key, key type, project, body',
      shown: {
        'http/authentication.test.ts': [
          '401 before 403, 404, 413, 415 and 400',
          '403 before 404 and 400',
          '404 before 400',
        ],
        'http/rate_limits.test.ts': ['comes after 401 and 403, and before 404, 400, 413 and 415'],
      },
    },
    {
      says: 'unknown keys are refused before the database is asked, once too many came from one address',
      shown: {
        'http/unknown_keys.test.ts': [
          'in parallel costs no more statements than one after the other',
          'all ways of %s keys share one bound, and an IPv6 network is one address; other kinds have their own',
          'does not lock out a key that was valid a moment ago, also when it has to be looked up again',
          'attack: does not shut out a key at its first use here: its tag shows that this service made it',
        ],
      },
    },
    {
      says: 'the wrong type of key is 403 wrong_key_type; anything else is 401 with one body',
      shown: {
        'http/errors.test.ts': ['403 wrong_key_type: a publishable key does not do'],
        'http/authentication.test.ts': [
          '401 invalid_token: missing, malformed, unknown, revoked and misplaced tokens look alike',
        ],
      },
    },
  ],
};

export const callers: readonly Area[] = [keys, publishable, strangers];
