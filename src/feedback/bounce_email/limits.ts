/** How much of an email is read: a report stands at its start, and the email that it returns may be long. */
export const EMAIL_BYTES_MAX = 256 * 1024;
export const EMAIL_LINES_MAX = 10_000;
/** How many parts are read. */
export const PARTS_MAX = 100;
/** An email whose parts are nested deeper, or whose headers are longer, is not read. */
export const DEPTH_MAX = 8;
export const HEADER_BYTES_MAX = 64 * 1024;
/** How many recipients of one report count, and how many fields of one block. */
export const RECIPIENTS_MAX = 50;
export const FIELDS_MAX = 200;
/** How much of one field, and of one explanation in words, is read. */
export const FIELD_CHARS_MAX = 4_000;
export const EXPLANATION_CHARS_MAX = 4_000;
