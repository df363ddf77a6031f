// The test suite over the supported Postgres versions, each in a container: `make test-matrix`.
import { spawnSync } from 'node:child_process';
import { getContainerRuntimeClient } from 'testcontainers';

const IMAGES = ['postgres:15', 'postgres:16', 'postgres:17', 'postgres:18'];

try {
  await getContainerRuntimeClient();
} catch {
  console.log(
    'skipped: there is no Docker on this machine. TEST_DATABASE_URL=… make test runs on any server.',
  );
  process.exit(0);
}

for (const image of IMAGES) {
  console.log(`\n${image}`);
  const tests = ['vitest', 'run', '--config', 'test/vitest.config.ts'];
  const { status } = spawnSync('env', [`TEST_POSTGRES_IMAGE=${image}`, ...tests], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}
