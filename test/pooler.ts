// The service behind a transaction-pooling proxy that we did not write: `make test-pooler`.
import { hasPgbouncer } from './pooler/pgbouncer.ts';
import { testWithPackage } from './of_package.ts';

process.exitCode = testWithPackage('test/pooler', {
  name: 'PgBouncer',
  isHere: hasPgbouncer,
  debianPackage: 'pgbouncer',
});
