/** Whether Postgres can store the text: well-formed Unicode without U+0000. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');
