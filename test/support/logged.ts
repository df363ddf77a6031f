import { Writable } from 'node:stream';
import { beforeAll } from 'vitest';
import { openLog } from '../../src/base/log.ts';
import type { TestDatabase } from './database.ts';

/** Everything that is logged with the dependencies of this database, as text. */
export const loggedOf = (database: TestDatabase): string[] => {
  const logged: string[] = [];
  beforeAll(() => {
    const to = new Writable({
      write(chunk, _encoding, done) {
        logged.push(String(chunk));
        done();
      },
    });
    database.deps = { ...database.deps, log: openLog('trace', to) };
  });
  return logged;
};
