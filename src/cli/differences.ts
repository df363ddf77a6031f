import { plain } from './terminal.ts';
import type { Style } from './terminal.ts';

/** So many lines of one text are shown, and so many characters of one line. */
const LINES_SHOWN_MAX = 40;
const LINE_CHARS_MAX = 200;

const CHANGE = /^([+-]) (\S+) (.*)$/s;

const readText = (json: string): string | null => {
  const value: unknown = JSON.parse(json);
  return typeof value === 'string' ? value : null;
};

const cut = (line: string): string => {
  const letters = Array.from(plain(line));
  return letters.length <= LINE_CHARS_MAX
    ? letters.join('')
    : `${letters.slice(0, LINE_CHARS_MAX).join('')}…`;
};

const countSame = (left: readonly string[], right: readonly string[]): number => {
  const max = Math.min(left.length, right.length);
  let count = 0;
  while (count < max && left[count] === right[count]) count += 1;
  return count;
};

const shorten = (lines: readonly string[]): string[] => {
  const more = lines.length - LINES_SHOWN_MAX;
  if (more <= 0) return [...lines];
  return [...lines.slice(0, LINES_SHOWN_MAX), `… and ${more} more lines`];
};

/** What is different in a text of several lines: without the lines that begin and end both. */
const compareTexts = (path: string, old: string, fresh: string, style: Style): string[] => {
  const before = old.split('\n');
  const after = fresh.split('\n');
  const head = countSame(before, after);
  const tail = countSame(before.slice(head).toReversed(), after.slice(head).toReversed());
  const middle = (lines: readonly string[]) => lines.slice(head, lines.length - tail).map(cut);
  return [
    style.dim(`  ${path}, from line ${head + 1}`),
    ...shorten(middle(before)).map((line) => style.red(`  - ${line}`)),
    ...shorten(middle(after)).map((line) => style.green(`  + ${line}`)),
  ];
};

type Change = { sign: string; path: string; json: string };

const readChange = (line: string): Change | null => {
  const [, sign, path, json] = CHANGE.exec(line) ?? [];
  return sign === undefined || path === undefined || json === undefined
    ? null
    : { sign, path, json };
};

/** The text that a change exchanges for another, where either has several lines. */
const findTexts = (change: Change | null, next: Change | null) => {
  if (change?.sign !== '-' || next?.sign !== '+' || next.path !== change.path) return null;
  const [old, fresh] = [readText(change.json), readText(next.json)];
  if (old === null || fresh === null) return null;
  return old.includes('\n') || fresh.includes('\n') ? { path: change.path, old, fresh } : null;
};

/** What is different in a file, for people: leaf by leaf, and long texts line by line. */
export const showChanges = (changes: readonly string[], style: Style): string[] => {
  const shown: string[] = [];
  for (let at = 0; at < changes.length; at += 1) {
    const line = changes[at] ?? '';
    const change = readChange(line);
    const texts = findTexts(change, readChange(changes[at + 1] ?? ''));
    if (texts) {
      shown.push(...compareTexts(texts.path, texts.old, texts.fresh, style));
      at += 1;
      continue;
    }
    const set = change?.sign === '-' ? style.red : style.green;
    shown.push(change === null ? `  ${cut(line)}` : set(`  ${cut(line)}`));
  }
  return shown;
};
