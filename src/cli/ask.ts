import { Failure, misused } from './failure.ts';
import type { Input, World } from './terminal.ts';

/** Longer is no answer that anybody types, and no password. */
const ANSWER_CHARS_MAX = 4_096;

const END_OF_TEXT = '\u0003';
const END_OF_INPUT = '\u0004';
const CLEAR_LINE = '\u0015';
const BACKSPACES = ['\b', '\u007F'];
const LINE_ENDS = ['\r', '\n'];

type Typed = {
  line: string;
  end: 'more' | 'line' | 'input' | 'interrupted';
  /** What was typed ahead, of the next line. */
  rest?: string;
};

/** What there is of a line once something more was typed. */
const type = (line: string, typed: string): Typed => {
  let so = line;
  for (const [at, key] of Array.from(typed).entries()) {
    if (LINE_ENDS.includes(key)) {
      const rest = Array.from(typed)
        .slice(at + 1)
        .join('');
      return { line: so, end: 'line', rest: key === '\r' ? rest.replace(/^\n/, '') : rest };
    }
    if (key === END_OF_TEXT) return { line: so, end: 'interrupted' };
    if (key === END_OF_INPUT) return { line: so, end: 'input' };
    if (key === CLEAR_LINE) so = '';
    else if (BACKSPACES.includes(key)) so = Array.from(so).slice(0, -1).join('');
    else if (so.length < ANSWER_CHARS_MAX) so += key;
  }
  return { line: so, end: 'more' };
};

const readLine = (stdin: Input): Promise<Typed> =>
  new Promise((resolve, reject) => {
    let line = '';
    const stop = (typed: Typed): void => {
      stdin.off('data', onData).off('end', onEnd).off('error', reject).pause();
      if (typed.rest) stdin.unshift(typed.rest, 'utf8');
      resolve(typed);
    };
    const onData = (chunk: string | Buffer): void => {
      const typed = type(line, String(chunk));
      line = typed.line;
      if (typed.end !== 'more') stop(typed);
    };
    const onEnd = (): void => stop({ line, end: 'input' });
    if (stdin.readableEnded === true) {
      resolve({ line, end: 'input' });
      return;
    }
    stdin.setEncoding('utf8');
    stdin.on('data', onData).on('end', onEnd).on('error', reject).resume();
  });

/** Whether there is somebody to be asked. */
export const canAsk = ({ stdin, stderr, isForPrograms }: World): boolean =>
  stdin.isTTY === true && stderr.isTTY === true && isForPrograms !== true;

const take = async (world: World, question: string): Promise<string> => {
  world.stderr.write(question);
  const { line, end } = await readLine(world.stdin);
  if (end === 'interrupted') throw new Failure('interrupted', 'Interrupted: nothing was done.');
  if (end === 'input' && line === '') throw new Failure('failed', 'There was no answer.');
  return line;
};

/** A line that somebody types, and sees. */
export const askLine = async (world: World, question: string): Promise<string> =>
  (await take(world, question)).trim();

/** A line that nobody sees. */
export const askHidden = async (world: World, question: string): Promise<string> => {
  const { stdin, stderr } = world;
  stdin.setRawMode?.(true);
  try {
    return await take(world, question);
  } finally {
    stdin.setRawMode?.(false);
    stderr.write('\n');
  }
};

/** Asks whether to go on, where it was not said before. Whoever cannot be asked has to say it. */
export const confirm = async (
  world: World,
  { isSaid, question }: { isSaid: boolean; question: string },
): Promise<void> => {
  if (isSaid) return;
  if (!canAsk(world)) throw misused('There is nobody to be asked here.', 'Say --yes to do it.');
  const answer = await askLine(world, `${question} [y/N] `);
  if (!/^y(?:es)?$/i.test(answer)) throw new Failure('failed', 'Nothing was changed.');
};

/** All that is piped in, without the end of its last line. */
export const readPiped = async ({ stdin }: World): Promise<string> => {
  let text = '';
  stdin.setEncoding('utf8');
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > ANSWER_CHARS_MAX)
      throw misused(`What is piped in is longer than ${ANSWER_CHARS_MAX} characters: no password.`);
  }
  return text.replace(/\r?\n$/, '');
};

/** A password: piped in where that was said, typed unseen otherwise. It is never an argument. */
export const askPassword = async (
  world: World,
  { isPiped, question }: { isPiped: boolean; question: string },
): Promise<string> => {
  if (!isPiped && !canAsk(world))
    throw misused(
      'There is no terminal to type a password on.',
      'Pipe it in: printf %s "$PASSWORD" | trunkline … --password-stdin',
    );
  const password = isPiped ? await readPiped(world) : await askHidden(world, question);
  if (password === '') throw misused('The password is empty.');
  return password;
};
