import { z } from 'zod';
import { task } from '../../src/base/task.ts';

/** Makes the timeline's months that are missing. Safe to repeat: a partition that exists is left alone. */
export default task(z.unknown(), async (_payload, { log, jobs }) => {
  const { rows } = await jobs.query<{ made: number }>('select ingest.keep_partitions() as made');
  log.info({ made: rows[0]?.made }, 'partitions kept');
});
