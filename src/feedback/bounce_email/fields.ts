import { FIELD_CHARS_MAX, FIELDS_MAX } from './limits.ts';

/** Header fields of one block, by name in lower case; of a name that comes again, every value. */
export type Fields = ReadonlyMap<string, readonly string[]>;

const FIELD = /^([!-9;-~]{1,80})[ \t]{0,8}:[ \t]{0,8}(.*)$/s;

/** Returns the first value of a field; null without one. */
export const fieldOf = (fields: Fields, name: string): string | null =>
  fields.get(name)?.[0] ?? null;

const toFields = (lines: readonly string[]): Fields => {
  const fields = new Map<string, string[]>();
  for (const line of lines.slice(0, FIELDS_MAX)) {
    const [, name, value] = FIELD.exec(line.slice(0, FIELD_CHARS_MAX)) ?? [];
    if (name === undefined || value === undefined) continue;
    const key = name.toLowerCase();
    fields.set(key, [...(fields.get(key) ?? []), value.trim()]);
  }
  return fields;
};

/** Joins lines that were folded (RFC 5322 §2.2.3). A field that is too long ends where its characters do. */
const unfold = (lines: readonly string[]): string[] => {
  const unfolded: string[] = [];
  for (const line of lines) {
    const last = unfolded.length - 1;
    const before = unfolded[last];
    if (!/^[ \t]/.test(line) || before === undefined) unfolded.push(line);
    else if (before.length < FIELD_CHARS_MAX) unfolded[last] = `${before} ${line.trim()}`;
  }
  return unfolded;
};

/** Returns the blocks of fields in a text, at most so many: they are separated by empty lines. */
export const readBlocks = (text: string, blocksMax: number): Fields[] => {
  const blocks: Fields[] = [];
  let lines: string[] = [];
  const end = () => {
    if (lines.length > 0) blocks.push(toFields(unfold(lines)));
    lines = [];
  };
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (blocks.length >= blocksMax) return blocks;
    if (line.trim() === '') end();
    else lines.push(line);
  }
  end();
  return blocks.slice(0, blocksMax);
};
