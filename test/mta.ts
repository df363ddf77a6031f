// The transports against a relay that we did not write: `make test-mta`.
import { hasExim } from './mta/exim.ts';
import { testWithPackage } from './of_package.ts';

const debianPackage = 'exim4-daemon-light';
process.exitCode = testWithPackage('test/mta', { name: 'Exim', isHere: hasExim, debianPackage });
