import { namesOwnCause } from '../smtp/other_cause.ts';
import { concernsSide, endsSend, suppresses, VERDICTS } from '../verdicts.ts';
import type { VerdictName } from '../verdicts.ts';
import { scoresOf } from './model.ts';
import type { Model } from './model.ts';
import { isWord } from './tokens.ts';

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
 * Units that the verdict of the rules counts beside the scores. Measured on sets that the rules had
 * not seen (test/providers/answers/RESULTS.md).
 */
const BONUS: Record<Finding['by'], number> = {
  host: 32,
  rule: 16,
  broad_rule: 4,
  phrase: 8,
  code: 1,
  doubt: 1,
};

/** Words that the model must know: codes alone, and codes beside one word, mean what the tables say. */
const WORDS_MIN = 2;
/** The least score of a class that is taken: below, the reply resembles none. */
const SCORE_MIN = -4;
/** How much surer the model must be of an end than of any cause on the side that sends. */
const END_MARGIN = 16;
/** The same where the rules speak of a reputation: what a recipient blocks is easily taken for it. */
const END_MARGIN_OF_RECIPIENT = 24;
const OF_REPUTATION: readonly VerdictName[] = ['relay_reputation', 'sender_reputation'];

/** Returns the margin by which an end may replace the verdict of the rules, where it may. */
const marginFor = (end: VerdictName, rules: VerdictName): number => {
  if (rules === 'unsure') return END_MARGIN;
  const isOfRecipient = VERDICTS[end][0] === 'recipient';
  return isOfRecipient && OF_REPUTATION.includes(rules)
    ? END_MARGIN_OF_RECIPIENT
    : Number.POSITIVE_INFINITY;
};

/** Words that the model must know of a reply that ends a send by what it says. */
const END_WORDS_MIN = 4;

type Scored = { name: VerdictName; score: number };

/** Returns the class with the highest score, where the verdict of the rules has a bonus. */
const bestOf = (scored: readonly Scored[], rules: VerdictName, scoreMin: number): VerdictName => {
  let [best, bestScore] = [rules, scoreMin];
  for (const { name, score } of scored) if (score > bestScore) [best, bestScore] = [name, score];
  return best;
};

/** Returns how much surer the model is of `means` than of any cause on the side that sends. */
const marginOf = (scored: readonly Scored[], means: VerdictName): number => {
  const ofSide = scored.filter(({ name }) => concernsSide(name)).map(({ score }) => score);
  const own = scored.find(({ name }) => name === means)?.score ?? Number.NEGATIVE_INFINITY;
  return own - Math.max(...ofSide);
};

/**
 * Returns the verdict of the rules, or that of the model where it is surer and safe: it speaks of
 * no recipient and no message beside words of the account, it ends a send only by a wide margin and
 * by several words, and it suppresses a person only where the rules know nothing. `settle` says
 * what a verdict is after this command and with this code.
 */
export const weighModel = (
  model: Model,
  { tokens, words, mayEnd }: Evidence,
  { means, by }: Finding,
  settle: (means: VerdictName) => VerdictName,
): VerdictName => {
  const known = tokens.filter((token) => model.tokens.has(token));
  const knownWords = known.filter(isWord).length;
  if (knownWords < WORDS_MIN) return means;
  const scores = scoresOf(model, known);
  const scored = model.classes.map((name, at) => ({
    name,
    score: (scores[at] ?? 0) + (name === means ? BONUS[by] : 0),
  }));
  const best = bestOf(scored, means, SCORE_MIN);
  if (best === means) return means;
  const settled = settle(best);
  if (concernsSide(settled)) return settled;
  if (concernsSide(means) && namesOwnCause(words)) return means;
  if (suppresses(settled) && !suppresses(means) && means !== 'unsure') return means;
  if (!endsSend(settled) || endsSend(means)) return settled;
  const isSure = knownWords >= END_WORDS_MIN && marginOf(scored, best) >= marginFor(settled, means);
  return by !== 'doubt' && mayEnd && isSure ? settled : means;
};
