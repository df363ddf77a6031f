/**
 * A folder with facts to judge instead of those of the tests: `REPLIES_FOLDER`; null where it is
 * not set.
 */
export const REPLIES_FOLDER = process.env['REPLIES_FOLDER'] || null;
