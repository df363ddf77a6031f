// The model of the answers that no rule knows, from labelled answers. The same answers always give the same model.
import { WEIGHT_MAX } from '../../../../src/providers/answers/model/model.ts';
import type { Model } from '../../../../src/providers/answers/model/model.ts';
import {
  isPair,
  tokensOfAnswer,
  tokensOfReply,
} from '../../../../src/providers/answers/model/tokens.ts';
import { readAnswer } from '../../../../src/providers/answers/http/read_answer.ts';
import { readReply } from '../../../../src/providers/answers/smtp/read_reply.ts';
import { VERDICTS } from '../../../../src/providers/answers/verdicts.ts';
import type { VerdictName } from '../../../../src/providers/answers/verdicts.ts';
import { toAnswer, toReply } from '../labelled.ts';
import type { Labels } from '../labelled.ts';
import type { LabelledSet } from './sets.ts';
import { trainClass } from './linear_svm.ts';
import type { Row } from './linear_svm.ts';

/** A token that only one answer has may be a name, and a pair of two answers a phrase of one server. */
const EXAMPLES_MIN = 2;
const EXAMPLES_OF_PAIR_MIN = 3;
/** Weights for one unit of a score: the largest of them fit into a character. */
const UNIT = 8;

const VERDICT_NAMES = Object.keys(VERDICTS) as VerdictName[];

const spell = ([scope, meaning, retry]: readonly string[]): string =>
  [scope, meaning, retry].join('/');

/**
 * Each class is the sum of four: itself and what it shares with others. So rare classes are known
 * by what they share.
 */
const SHARED: readonly ((name: VerdictName) => string)[] = [
  (name) => name,
  (name) => VERDICTS[name][0],
  (name) => VERDICTS[name][1],
  (name) => VERDICTS[name][2],
];

/** What the model sees of an answer, and what the answer means. */
export type Example = { tokens: readonly string[]; means: VerdictName };

const verdictOf = ({ id, scope, meaning, retry }: Labels & { id: string }): VerdictName => {
  const name = VERDICT_NAMES.find(
    (each) => spell(VERDICTS[each]) === spell([scope, meaning, retry]),
  );
  if (name === undefined) throw new Error(`${id}: no verdict ${scope}/${meaning}/${retry}`);
  return name;
};

/** Returns the examples of sets. */
export const examplesOf = (sets: readonly LabelledSet[]): Example[] => [
  ...sets
    .flatMap(({ replies }) => replies)
    .map((each) => ({ tokens: tokensOfReply(readReply(toReply(each))), means: verdictOf(each) })),
  ...sets
    .flatMap(({ answers }) => answers)
    .map((each) => ({
      tokens: tokensOfAnswer(readAnswer(toAnswer(each))),
      means: verdictOf(each),
    })),
];

/** Returns the tokens of at least two answers, in the order of the alphabet. */
const countTokens = (replies: readonly (readonly string[])[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const token of replies.flat()) counts.set(token, (counts.get(token) ?? 0) + 1);
  const kept = [...counts.keys()].filter(
    (token) => (counts.get(token) ?? 0) >= (isPair(token) ? EXAMPLES_OF_PAIR_MIN : EXAMPLES_MIN),
  );
  return new Map(kept.toSorted().map((token, at) => [token, at]));
};

const quantize = (weight: number): number =>
  Math.max(-WEIGHT_MAX, Math.min(WEIGHT_MAX, Math.round(weight * UNIT)));

/** Trains the model. */
export const trainModel = (examples: readonly Example[]): Model => {
  const tokens = countTokens(examples.map((each) => each.tokens));
  const rows: Row[] = examples.map((each) =>
    each.tokens.flatMap((token) => tokens.get(token) ?? []),
  );
  const names = examples.map(({ means }) => means);
  const classes = VERDICT_NAMES.filter((name) => names.includes(name));
  const sums = classes.map(() => new Float64Array(tokens.size));
  for (const shared of SHARED) {
    const kinds = names.map(shared);
    for (const kind of new Set(kinds)) {
      const isOf = kinds.map((each) => each === kind);
      const weights = trainClass(rows, tokens.size, isOf);
      for (const [at, name] of classes.entries())
        if (shared(name) === kind)
          for (const [column, weight] of weights.entries()) {
            const sum = sums[at];
            if (sum !== undefined) sum[column] = (sum[column] ?? 0) + weight;
          }
    }
  }
  const weights = new Int8Array(tokens.size * classes.length);
  for (const [at, sum] of sums.entries())
    for (const [column, weight] of sum.entries())
      weights[column * classes.length + at] = quantize(weight);
  return { classes, tokens, weights };
};
