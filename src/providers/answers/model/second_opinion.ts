import { namesOwnCause } from '../smtp/other_cause.ts';
import { concernsSide, endsSend, suppresses, VERDICTS } from '../verdicts.ts';
import type { VerdictName } from '../verdicts.ts';
import { scoresOf } from './model.ts';
import type { Model } from './model.ts';
import { isSpoken, isWord } from './tokens.ts';

/**
 * A verdict of the rules and what it rests on: a rule for one host, a rule for few sentences or one
 * for many, a phrase or a code that is sure, or other codes. `doubt` stands for words that
 * contradict a phrase or a code.
 */
export type Finding = {
  means: VerdictName;
  by: 'host' | 'rule' | 'broad_rule' | 'phrase' | 'code' | 'doubt';
};

/** What the model reads of an answer. */
export type Evidence = {
  tokens: readonly string[];
  words: string;
  /** Whether the code and the command allow that the send ends. */
  mayEnd: boolean;
};

/**
 * The bonus of the class that the rules chose, in units of a score, by how sure they are. Chosen on
 * unseen15 to unseen17 (test/providers/answers/RESULTS.md).
 */
const BONUS: Record<Finding['by'], number> = {
  host: 32,
  rule: 16,
  broad_rule: 4,
  phrase: 8,
  code: 1,
  doubt: 1,
};

/** Words that the model must know. Codes alone, and codes beside one word, mean what the tables say. */
const WORDS_MIN = 2;
/** The least score of a class that is taken: below, the answer resembles none. */
const SCORE_MIN = -4;
/** The least score by words alone: codes and the command must not decide what words do not say. */
const WORDS_SCORE_MIN = 0;
/** The same for what a person must repair, where the rules say that time helps. */
const REPAIR_SCORE_MIN = 8;

/** Words that the model must know of an answer that ends a send. */
const END_WORDS_MIN = 4;
/** How much surer the words must be of an end than of any cause on the side that sends. */
const END_MARGIN = 12;
/** The same where a person would receive no more email. */
const SUPPRESS_MARGIN = 16;
/** The same where the rules speak of a reputation: what a recipient blocks is easily taken for it. */
const REPUTATION_MARGIN = 16;

const OF_REPUTATION: readonly VerdictName[] = ['relay_reputation', 'sender_reputation'];

/** Returns the margin by which an end may replace the verdict of the rules: infinite where it may not. */
const marginFor = (end: VerdictName, rules: VerdictName): number => {
  if (rules === 'unsure') return suppresses(end) ? SUPPRESS_MARGIN : END_MARGIN;
  const mayYield = OF_REPUTATION.includes(rules) && VERDICTS[end][0] === 'recipient';
  return mayYield && !suppresses(end) ? REPUTATION_MARGIN : Number.POSITIVE_INFINITY;
};

type Scores = ReadonlyMap<VerdictName, number>;

const scoreAll = (model: Model, tokens: readonly string[]): Scores => {
  const scores = scoresOf(model, tokens);
  return new Map(model.classes.map((name, at) => [name, scores[at] ?? 0]));
};

const scoreOf = (scores: Scores, name: VerdictName): number =>
  scores.get(name) ?? Number.NEGATIVE_INFINITY;

/** Returns the class with the highest score once the verdict of the rules has its bonus. */
const bestOf = (scores: Scores, { means, by }: Finding): VerdictName => {
  let [best, bestScore] = [means, SCORE_MIN];
  for (const [name, score] of scores) {
    const total = score + (name === means ? BONUS[by] : 0);
    if (total > bestScore) [best, bestScore] = [name, total];
  }
  return best;
};

/** Returns how much surer the words are of `means` than of any cause on the side that sends. */
const marginOf = (byWords: Scores, means: VerdictName): number => {
  const ofSide = [...byWords].filter(([name]) => concernsSide(name)).map(([, score]) => score);
  return scoreOf(byWords, means) - Math.max(...ofSide);
};

const needsRepair = (means: VerdictName): boolean => VERDICTS[means][2] !== 'later';

/**
 * Returns the verdict of the rules, or that of the model where it is surer and safe. The words must
 * speak for it, and not only the code and the command. Beside words of the account it speaks of no
 * recipient and no message. It ends a send and suppresses a person only by margins of the words
 * alone. `settle` says what a verdict is after this command and with this code.
 */
export const weighModel = (
  model: Model,
  { tokens, words, mayEnd }: Evidence,
  finding: Finding,
  settle: (means: VerdictName) => VerdictName,
): VerdictName => {
  const { means, by } = finding;
  const known = tokens.filter((token) => model.tokens.has(token));
  const knownWords = known.filter(isWord).length;
  if (knownWords < WORDS_MIN) return means;
  const best = bestOf(scoreAll(model, known), finding);
  if (best === means) return means;
  const settled = settle(best);
  const byWords = scoreAll(model, known.filter(isSpoken));
  const least = needsRepair(settled) && !needsRepair(means) ? REPAIR_SCORE_MIN : WORDS_SCORE_MIN;
  if (scoreOf(byWords, best) < least) return means;
  if (concernsSide(settled)) return settled;
  if (concernsSide(means) && namesOwnCause(words)) return means;
  if (suppresses(settled) && !suppresses(means) && means !== 'unsure') return means;
  if (!endsSend(settled) || endsSend(means)) return settled;
  const isSure =
    knownWords >= END_WORDS_MIN && marginOf(byWords, best) >= marginFor(settled, means);
  return by !== 'doubt' && mayEnd && isSure ? settled : means;
};
