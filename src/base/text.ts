/** Whether Postgres can store the text: well-formed Unicode without U+0000. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** The text without what Postgres cannot store: U+0000 goes, lone surrogates become U+FFFD. */
export const toStorable = (text: string): string => text.toWellFormed().replaceAll('\0', '');
