import { readFileSync } from 'node:fs';
import { VERDICTS } from '../verdicts.ts';
import type { VerdictName } from '../verdicts.ts';

/** A linear model: a weight for each token and class. */
export type Model = {
  classes: readonly VerdictName[];
  tokens: ReadonlyMap<string, number>;
  /** The weights of the first token for all classes, then those of the next. */
  weights: Int8Array;
};

/** The largest weight. Each is one printable character, so that a line of the file is a token. */
export const WEIGHT_MAX = 46;
const ZERO = 80;

const isVerdict = (name: string): name is VerdictName => Object.hasOwn(VERDICTS, name);

/** Writes a model as text: a line of its classes, then a line for each token with its weights. */
export const writeModel = ({ classes, tokens, weights }: Model): string => {
  const lines = [...tokens].map(([token, row]) => {
    const ofToken = weights.subarray(row * classes.length, (row + 1) * classes.length);
    return `${token} ${String.fromCharCode(...ofToken.map((weight) => ZERO + weight))}`;
  });
  return [classes.join(' '), ...lines, ''].join('\n');
};

/** Reads what `writeModel` wrote. Throws where it is no model. */
export const readModel = (text: string): Model => {
  const [head = '', ...lines] = text.trimEnd().split('\n');
  const classes = head.split(' ').filter(isVerdict);
  const tokens = new Map<string, number>();
  const weights = new Int8Array(lines.length * classes.length);
  for (const [row, line] of lines.entries()) {
    const end = line.indexOf(' ');
    if (line.length - end - 1 !== classes.length)
      throw new Error(
        `The weights do not fit the verdicts; run make answers-model. The line: ${line}`,
      );
    tokens.set(line.slice(0, end), row);
    for (let at = 0; at < classes.length; at += 1)
      weights[row * classes.length + at] = line.charCodeAt(end + 1 + at) - ZERO;
  }
  return { classes, tokens, weights };
};

/** Where the weights are kept. `make answers-model` writes the file. */
export const MODEL_FILE = new URL('weights.txt', import.meta.url);

let loaded: Model | null = null;

/** Returns the model of the file, which is read at the first use. */
export const loadModel = (): Model => (loaded ??= readModel(readFileSync(MODEL_FILE, 'utf8')));

/** Returns how much the known tokens speak for each class, whatever their number. */
export const scoresOf = (
  { classes, tokens, weights }: Model,
  found: readonly string[],
): Float64Array => {
  const scores = new Float64Array(classes.length);
  const rows = found.flatMap((token) => tokens.get(token) ?? []);
  for (const row of rows)
    for (let at = 0; at < scores.length; at += 1)
      scores[at] = (scores[at] ?? 0) + (weights[row * scores.length + at] ?? 0);
  return scores.map((score) => score / Math.sqrt(Math.max(1, rows.length)));
};
