/** Whether Postgres can store the text: well-formed Unicode without U+0000. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** What an issue says of a text that Postgres cannot store. */
export const NOT_STORABLE = 'must be well-formed Unicode without U+0000';

/** In what JSON.stringify writes: U+0000 or half of a character, after backslashes that stand for themselves. */
const UNSTORABLE_ESCAPE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** Whether Postgres can store a value as jsonb, the names of its members too. */
export const isStorableJson = (value: unknown): boolean =>
  !UNSTORABLE_ESCAPE.test(JSON.stringify(value));

/** The text without what Postgres cannot store: U+0000 goes, lone surrogates become U+FFFD. */
export const toStorable = (text: string): string => text.toWellFormed().replaceAll('\0', '');

/** What ends a line, and with it a header of mail, in every notation that mail software knows. */
const LINE_BREAK = /[\r\n\0\u0085\u2028\u2029]/;

/** Whether a text has a line break, of whatever kind. Those are refused in headers, never mended. */
export const hasLineBreak = (text: string): boolean => LINE_BREAK.test(text);

const UNSEEN = /^[\p{White_Space}\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** Whether nobody could see anything of it: blanks, and what is there to be left out, such as a zero-width space. */
export const isUnseen = (text: string): boolean => UNSEEN.test(text);
