// The service against relays that we did not write: `make test-mta [only=<scenario>]`.
import { hasExim } from './mta/exim.ts';
import { findPostfix, unpackPostfix } from './mta/postfix_package.ts';
import { obtainProgram, testFolder } from './of_package.ts';
import type { Needed } from './of_package.ts';

const RELAYS: readonly Needed[] = [
  { name: 'Exim', isHere: hasExim, debianPackage: 'exim4-daemon-light' },
  {
    name: 'Postfix',
    isHere: () => findPostfix() !== null,
    debianPackage: 'postfix sasl2-bin',
    unpack: unpackPostfix,
  },
];

const [only = ''] = process.argv.slice(2);
const areHere = RELAYS.map(obtainProgram);
// One scenario at a time: what they measure is what the machine has left.
const options = ['--no-file-parallelism', '--reporter=verbose'];
process.exitCode = areHere.includes(true)
  ? testFolder(`test/mta/${only}`, { options, settings: ['MTA_SCENARIOS=yes'] })
  : 0;
