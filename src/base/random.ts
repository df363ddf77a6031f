import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 8 * 1024;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/**
 * Random bytes of the system's generator, fetched many at a time: asking for each few costs more
 * than everything else that is done with them. Each byte is given out once.
 */
export const takeRandom = (count: number): Buffer => {
  if (used + count > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const taken = Buffer.from(pool.subarray(used, used + count));
  pool.fill(0, used, used + count);
  used += count;
  return taken;
};
