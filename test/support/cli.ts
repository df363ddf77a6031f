import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll } from 'vitest';
import { run } from '../../src/cli/run.ts';
import type { Input } from '../../src/cli/terminal.ts';
import { openSession } from '../../src/admin/sessions.ts';
import type { TestApi } from './api.ts';
import type { TestDatabase } from './database.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

export type Said = { code: number; stdout: string; stderr: string };
type Env = Record<string, string>;
export type Asking = {
  env?: Env;
  /** What is piped in; on a terminal, what is typed. */
  input?: string;
  /** The same, as it comes. */
  typed?: () => AsyncIterable<string>;
  /** Whether there is a terminal, and somebody at it. */
  isTerminal?: boolean;
  /** Where a program runs. */
  cwd?: string;
};

async function* typeOnce(text: string): AsyncIterable<string> {
  if (text !== '') yield text;
}

/** What is piped in, or a terminal that somebody types on. */
const inputOf = (typed: AsyncIterable<string>, isTerminal: boolean): Input =>
  Object.assign(Readable.from(typed), { isTTY: isTerminal, setRawMode: () => {} });

const paper = (isTerminal: boolean) => {
  const said: string[] = [];
  return { said, isTTY: isTerminal, write: (text: string) => said.push(text) };
};

/** The command line in this process, as it runs in its own. */
export const runHere = async (
  args: readonly string[],
  { env = {}, input = '', typed = () => typeOnce(input), isTerminal = false }: Asking = {},
): Promise<Said> => {
  const [stdout, stderr] = [paper(isTerminal), paper(isTerminal)];
  const world = { env, stdin: inputOf(typed(), isTerminal), stdout, stderr };
  const code = await run(args, world);
  return { code, stdout: stdout.said.join(''), stderr: stderr.said.join('') };
};

/** A program to its end, fed with what is piped in. */
export const runProgram = (
  file: string,
  args: readonly string[],
  { env = {}, input = '', cwd }: Asking = {},
): Promise<Said> =>
  new Promise((resolve) => {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
    const own = { PATH, NODE_COMPILE_CACHE, HOME: '/nonexistent', ...env };
    const child = execFile(file, args, { env: own, cwd }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
    child.stdin?.end(input);
  });

export type TestCli = {
  /** Where it keeps what it keeps. */
  home: string;
  /** In this process, against the test's service. */
  trunkline: (args: readonly string[], asking?: Asking) => Promise<Said>;
  /** The same as a person: in a session of theirs. */
  as: (who: { personId: string }, args: readonly string[], asking?: Asking) => Promise<Said>;
  /** As a process of its own. */
  program: (args: readonly string[], asking?: Asking) => Promise<Said>;
};

/** The command line of a test's service, with a folder of its own for what it keeps. */
export const testCli = (database: TestDatabase, api: TestApi): TestCli => {
  const home = mkdtempSync(join(tmpdir(), 'trunkline-cli-'));
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  const withEnv = ({ env, ...asking }: Asking = {}): Asking => ({
    ...asking,
    env: { XDG_CONFIG_HOME: home, TRUNKLINE_URL: api.url, ...env },
  });
  const trunkline: TestCli['trunkline'] = (args, asking) => runHere(args, withEnv(asking));
  return {
    home,
    trunkline,
    as: async ({ personId }, args, asking = {}) => {
      const { token, proof } = await openSession(database.deps, personId);
      const session = `${token}.${proof}`;
      return trunkline(args, { ...asking, env: { TRUNKLINE_SESSION: session, ...asking.env } });
    },
    program: (args, asking) => runProgram(process.execPath, [MAIN, ...args], withEnv(asking)),
  };
};
