/** Whether Postgres can store the text: well-formed Unicode without U+0000. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** The text without what Postgres cannot store: U+0000 goes, lone surrogates become U+FFFD. */
export const toStorable = (text: string): string => text.toWellFormed().replaceAll('\0', '');

/** What ends a line, and with it a header of mail, in every notation that mail software knows. */
const LINE_BREAK = /[\r\n\0\u0085\u2028\u2029]/;

/** Whether a text has a line break, of whatever kind. Those are refused in headers, never mended. */
export const hasLineBreak = (text: string): boolean => LINE_BREAK.test(text);
