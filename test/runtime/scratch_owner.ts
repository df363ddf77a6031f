// A process that starts a scratch server, says where it is, and then ends as it was told to.
import { startScratchPostgres } from '../../src/runtime/scratch_postgres.ts';

const { pid, dir } = await startScratchPostgres();
console.log(JSON.stringify({ pid, dir }));
if (process.argv[2] === 'throw') throw new Error('as it was told to');
if (process.argv[2] === 'wait') setInterval(() => {}, 60_000);
