// The house itself: the Console, its limits, what it logs, what it forgets, what it is made of.
import { bounds } from './bounds.ts';
import type { Area } from './promised.ts';

const console: Area = {
  area: 'Console',
  promises: [
    {
      says: 'passwords are kept by a memory-hard function',
      shown: {
        'admin/sign_in.test.ts': ['an unknown address is compared at the same cost as a known one'],
        'hardening/console.test.ts': [
          'a password costs at least 32 MiB to try, and each has its own salt',
        ],
      },
    },
    {
      says: 'sessions are random and stored hashed',
      shown: {
        'admin/sessions.test.ts': [
          'the token is stored as a hash only',
          '401: a cookie of another installation opens nothing',
        ],
      },
    },
    {
      says: 'the cookie is host-only, HTTP-only, same-site, and secure where it is asked for by https',
      shown: {
        'admin/sign_in.test.ts': [
          '200: the right password opens a session in a cookie that only our pages send',
        ],
        'admin/sessions.test.ts': [
          'behind a proxy that is trusted, the cookie follows its protocol and the origin its host',
        ],
      },
    },
    {
      says: 'every change checks where it comes from',
      shown: {
        'admin/procedures.test.ts': [
          '403 foreign_origin: $name is not taken from another site’s page',
          '405: $name cannot be reached by a link',
        ],
        'admin/sessions.test.ts': [
          '403: a change with a cookie says where it comes from, or is refused',
        ],
      },
    },
    {
      says: 'log-in is throttled per account and per origin, and so is every other use of a password',
      shown: {
        'admin/sign_in.test.ts': [
          '429 too_many_sign_ins: an account has ten wrong passwords, and then not even the right one',
        ],
        'admin/throttle.test.ts': [
          'an address has 30 wrong sign-ins for whichever accounts, and then none',
          'attempts made at once are counted before any is answered',
        ],
        'admin/account.test.ts': [
          '429 too_many_sign_ins: a wrong password counts here as it does at the door',
        ],
      },
    },
    {
      says: 'roles are checked on the server, procedure by procedure',
      shown: {
        'admin/roles.test.ts': [
          'every procedure says whom it is for, and the table says the same',
          'there is no change of a project that a viewer may make',
          '404 not_found: $name knows no project that does not exist',
        ],
      },
    },
    {
      says: 'what is dangerous asks for the password again',
      shown: {
        'admin/account.test.ts': [
          'a new password needs the old one, and ends the other sessions',
          'a key of the API takes the password again, and is shown once',
        ],
        'admin/invitations.test.ts': ['inviting an owner takes the password again'],
        'hardening/console.test.ts': [
          'whatever makes keys, owners or administrators is refused without the password',
          'whatever takes the password again is tried here',
        ],
      },
    },
    {
      says: 'the audit log is only added to',
      shown: {
        'admin/audit.test.ts': [
          'the runtime role can neither change nor remove an entry',
          'where the entry cannot be written, nothing is changed',
        ],
        'http/audited.test.ts': [
          'one entry says which key did what, on what, by which request; a refused one none',
        ],
      },
    },
  ],
};

const erasure: Area = {
  area: 'Erasure and retention',
  promises: [
    {
      says: 'an erase removes or overwrites everything that tells of the person, in every table and job',
      shown: {
        'flows/erase_person.test.ts': [
          'after an erase no word that was said of the person is left anywhere, and nobody else lost a byte',
        ],
        'http/told_again.test.ts': [
          'what is kept of an answer that tells of somebody is an id, however much they have',
        ],
      },
    },
    {
      says: 'it keeps counters, and the keyed hash of a suppressed address',
      shown: {
        'suppression/erase_addresses.test.ts': [
          'a suppressed address stays suppressed and cannot be read any more',
        ],
      },
    },
    {
      says: 'a tombstone keeps what is old from coming back',
      shown: {
        'profiles/erase_person.test.ts': [
          'what arrives while the erase is pending is erased too; what arrives after it starts a fresh person',
          'work that read events before they were erased does not bring the person back',
        ],
      },
    },
    {
      says: 'it is a job that goes on where it was stopped, and has a status',
      shown: {
        'flows/erase_crash.test.ts': ['leaves an erase that another worker ends'],
        'profiles/erase_profile.test.ts': [
          'once done, the reason is gone and the receipt has the digest of its numbers',
        ],
      },
    },
    {
      says: 'a ledger outside of the backups is replayed after a restore',
      shown: {
        'flows/restore_drill.test.ts': [
          'nothing goes out until it is confirmed, nothing twice, and the erased stay erased',
        ],
        'profiles/replay.test.ts': [
          'the ledger outlives the restored backup, and its erases are done again',
        ],
      },
    },
  ],
};

const supplies: Area = {
  area: 'Supply chain',
  promises: [
    {
      says: 'versions are pinned, and the lock file says the hash of each package and no address',
      shown: {
        'hardening/supplies.test.ts': [
          'every version is exact, in package.json and in the lock file',
          'every package of the lock file has a hash, and none an address',
        ],
      },
    },
    {
      says: 'no package runs a script when it is installed',
      shown: {
        'hardening/supplies.test.ts': [
          'whoever would run a script when it is installed is named, and may not',
          'what is installed here is installed without scripts',
        ],
      },
    },
    {
      says: 'a high weakness that the registry knows of a package of the service fails the checks',
      shown: {
        'hardening/audit.test.ts': [
          'a %s weakness in a package that the service runs with fails the audit',
          'a registry that does not answer the audit passes it, and the reason is said',
        ],
      },
    },
    {
      says: 'no image is named by a tag alone',
      shown: {
        'hardening/deploy.test.ts': [
          '%s names none by a tag alone',
          'a tag without a digest is noticed',
        ],
      },
    },
    {
      says: 'what is shipped brings the libraries that it asks, and no others',
      shown: {
        'hardening/supplies.test.ts': [
          'the service imports what it declares, and declares what it imports',
        ],
      },
    },
  ],
};

export const house: readonly Area[] = [console, ...bounds, erasure, supplies];
