/** A field as RFC 4180 writes it, or what else stands there, and what ends it. */
const FIELD = /(?:[ \t]*"((?:[^"]|"")*)"[ \t]*|([^,\r\n]*))(,|\r\n|\n|\r|$)/y;

type Line = { line: number; values: string[] };

/** The lines of a CSV text, blank ones and a byte order mark left out. A stray quote is part of its field. */
export const readCsv = (given: string, linesMax: number): Line[] => {
  const text = given.replace(/^\uFEFF/, '');
  const lines: Line[] = [];
  const field = new RegExp(FIELD);
  let values: string[] = [];
  for (let line = 1; field.lastIndex < text.length;) {
    const [, quoted, plain = '', end = ''] = field.exec(text) ?? [];
    values.push((quoted?.replaceAll('""', '"') ?? plain).trim());
    if (end === ',' && field.lastIndex < text.length) continue;
    if (values.some((value) => value !== '')) lines.push({ line, values });
    if (lines.length > linesMax) break;
    values = [];
    line += 1;
  }
  return lines;
};
