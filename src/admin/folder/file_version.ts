const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;
const NUMBER = /^\d+$/;

/** Where an object of JSON says its own version; of two the last counts, as for everybody who reads JSON. */
const findVersion = (json: string): RegExpExecArray | null => {
  let found: RegExpExecArray | null = null;
  let depth = 0;
  const tokens = [...json.matchAll(TOKEN)];
  for (const [at, [token]] of tokens.entries()) {
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    const isMember = depth === 1 && token === '"version"' && tokens[at + 1]?.[0] === ':';
    if (isMember) found = tokens[at + 2] ?? null;
  }
  return found;
};

/** A file with another version in it, and nothing else of it touched; null where it says none. */
export const withVersion = (json: string, version: number): string | null => {
  const found = findVersion(json);
  if (!found || !NUMBER.test(found[0])) return null;
  const end = found.index + found[0].length;
  return `${json.slice(0, found.index)}${version}${json.slice(end)}`;
};
