// The house itself: the Console, its limits, what it logs, what it forgets, what it is made of.
import { bounds } from './bounds.ts';
import { consoleArea } from './console_area.ts';
import type { Area } from './promised.ts';

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

export const house: readonly Area[] = [consoleArea, ...bounds, erasure, supplies];
