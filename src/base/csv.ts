/** A field as RFC 4180 writes it, or what else stands there, and what ends it. */
const FIELD = /(?:[ \t]*"((?:[^"]|"")*)"[ \t]*|([^,\r\n]*))(,|\r\n|\n|\r|$)/y;

type Line = { line: number; values: string[] };

/** The lines of a CSV text, blank ones and a byte order mark left out. A stray quote is part of its field. */
export const readCsv = (given: string, linesMax: number): Line[] => {
  const text = given.replace(/^\uFEFF/, '');
  const lines: Line[] = [];
  const field = new RegExp(FIELD);
  let values: string[] = [];
  let breaks = 0;
  for (let line = 1; field.lastIndex < text.length;) {
    const [, quoted, plain = '', end = ''] = field.exec(text) ?? [];
    breaks += quoted?.match(/\r\n|\n|\r/g)?.length ?? 0;
    values.push((quoted?.replaceAll('""', '"') ?? plain).trim());
    if (end === ',' && field.lastIndex < text.length) continue;
    if (values.some((value) => value !== '')) lines.push({ line, values });
    if (lines.length > linesMax) break;
    // A quoted field may go over several lines; the next begins after them.
    line += 1 + breaks;
    values = [];
    breaks = 0;
  }
  return lines;
};
