/** Not a secret: what tests derive their keys and passwords from. */
export const TEST_MASTER_KEY = '11'.repeat(32);
