import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of the project, by path from its root. Rules read nothing else. */
export type Tree = { paths: string[]; read: (path: string) => string };

/** A rule about files: what breaks it, and files that would. */
export type Rule = {
  name: string;
  /** Lists what is wrong, a line each. */
  find: (tree: Tree) => string[];
  examples: Example[];
};
/** Files that break a rule, and a part of what is then said. */
export type Example = { files: Record<string, string>; says: string };

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** What is committed or about to be: everything that git does not ignore. */
export const readTree = (): Tree => {
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  );
  const paths = [...new Set(listed.split('\0'))].filter(
    (path) => path && existsSync(join(ROOT, path)),
  );
  const texts = new Map<string, string>();
  const read = (path: string): string => {
    const text = texts.get(path) ?? readFileSync(join(ROOT, path), 'utf8');
    texts.set(path, text);
    return text;
  };
  return { paths: paths.toSorted(), read };
};

/** A tree of a few files that exist only here. */
export const imagineTree = (files: Record<string, string>): Tree => ({
  paths: Object.keys(files),
  read: (path) => files[path] ?? '',
});

/** The files that a pattern names, with their text. */
export const filesOf = ({ paths, read }: Tree, pattern: RegExp): { path: string; text: string }[] =>
  paths.filter((path) => pattern.test(path)).map((path) => ({ path, text: read(path) }));

/** All that a pattern finds in a text, by its first group. */
export const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map((match) => match[1] ?? '');
