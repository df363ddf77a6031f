// Other users of the machine, and whoever starts the service there.
import type { Area } from './promised.ts';

export const localUsers: readonly Area[] = [
  {
    area: 'Local users',
    promises: [
      {
        says: 'no user of the machine signs in to the embedded Postgres without the password of a role',
        shown: {
          'runtime/postgres_access.test.ts': [
            '%s signs in with its password over TCP, and with no other',
            'the password of one role is none of another',
            'there is no socket in the file system; with one, it needs the same passwords',
            'another user of the machine signs in as no role without a password, least of all as the superuser',
          ],
        },
      },
      {
        says: 'neither the roles of the service nor analysts run programs or read files through Postgres',
        shown: {
          'runtime/postgres_access.test.ts': ['%s runs no program and reads no file by COPY'],
        },
      },
      {
        says: 'a data folder that required no password requires one before anybody can connect again',
        shown: {
          'runtime/postgres_folder.test.ts': [
            'gets the password before anybody can connect, and keeps its data',
            'gets it after a crash between the password and the rules',
            'whose server runs yet: what another user has opened there ends',
          ],
        },
      },
      {
        says: 'the superuser’s password is in no argument, no environment and no log',
        shown: {
          'runtime/everything.test.ts': [
            'no process has the superuser’s password; a lost Postgres comes back; held sending is said',
            'a secret in the arguments or the environment of a process is found',
          ],
          'runtime/psql.test.ts': [
            'psql gets the password in its environment, and none among its arguments',
          ],
          'runtime/postgres_access.test.ts': [
            'the server keeps verifiers of passwords, not passwords, and its log has neither',
          ],
          'runtime/postgres_folder.test.ts': [
            'what initdb gets is no password, in a file of its account alone, and is gone afterwards',
          ],
        },
      },
      {
        says: 'the service gets no credentials of the owner',
        shown: {
          'base/config.test.ts': [
            'the service keeps no credentials of a URL; migrations have the owner’s, or those of the only URL',
          ],
          'hardening/deploy.test.ts': [
            'api and worker have no credentials of the owner; the job that migrates has',
          ],
        },
      },
      {
        says: 'files, folders and pid files that another user put in our way are not believed',
        shown: {
          'runtime/own_folder.test.ts': [
            'of another user is not used: the secrets would be theirs',
            'what another user has left says nothing about what we delete',
            'a file in it names nothing else to delete',
          ],
          'runtime/postgres_folder.test.ts': [
            'a pid file of another process: it is neither asked for a password nor ended',
            'a log that is a link: what it leads to is neither written nor emptied',
          ],
        },
      },
      {
        says: 'secrets and data are readable by their owner alone',
        shown: {
          'runtime/postgres_access.test.ts': [
            'another user of the machine reads no file of the server',
          ],
          'runtime/postgres_folder.test.ts': ['data, log and rules are private'],
          'runtime/own_folder.test.ts': [
            'is closed to other users, and so are its secrets, whatever they were before',
          ],
        },
      },
      {
        says: 'caught emails are for the user who runs the mail catcher, and for no page of another site',
        shown: {
          'runtime/mail_catcher_http.test.ts': [
            '404 not_found: reads no email and deletes none',
            '404 not_found: a name of another site that points here reads nothing',
          ],
        },
      },
      {
        says: 'what operators start has no rights that it does not use',
        shown: {
          'hardening/deploy.test.ts': [
            '%s cannot write to its image, gains no rights and has bounds',
            'the api alone has a port, on the loopback address',
            'Postgres is on a network without an outside, and the job that migrates, too',
            'no secret is in an environment: each is a file, outside of the repository',
            'has no right that the process does not use',
            'has its secrets as credentials, not in its environment',
          ],
        },
      },
    ],
  },
];
