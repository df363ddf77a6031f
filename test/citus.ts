// The main job on a Citus cluster: `make test-citus`. Makes the schema there, distributes it and goes through it.
import { spawnSync } from 'node:child_process';
import { CITUS_DATABASE_URL } from './support/citus.ts';

if (CITUS_DATABASE_URL === '') {
  console.log(
    'skipped: CITUS_DATABASE_URL is not set. It is the coordinator of a cluster, as a superuser, and an empty ' +
      'database of its own. What can be said without one, test/citus/distribute.test.ts says: part of make test.',
  );
  process.exit(0);
}
const tests = ['run', '--config', 'test/vitest.config.ts', 'test/citus'];
process.exitCode = spawnSync('vitest', tests, { stdio: 'inherit' }).status ?? 1;
