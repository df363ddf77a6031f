import { z } from 'zod';
import { task } from '../../src/base/task.ts';
import * as ingest from '../../src/ingest/ingest.ts';

/** Makes the timeline's months that are missing. Safe to repeat: a partition that exists is left alone. */
export default task(z.unknown(), async (_payload, { config, log, jobs }) => {
  log.info({ made: await ingest.keepMonths(jobs, config) }, 'partitions kept');
});
