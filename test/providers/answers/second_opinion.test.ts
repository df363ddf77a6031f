// What a model may change in the verdict of the rules: each guard with a small model whose weights are known.
import { describe, expect, test } from 'vitest';
import { classifyAnswerWith } from '../../../src/providers/answers/http/classify_http.ts';
import type { Model } from '../../../src/providers/answers/model/model.ts';
import { weighModel } from '../../../src/providers/answers/model/second_opinion.ts';
import type { Finding } from '../../../src/providers/answers/model/second_opinion.ts';
import { classifyReplyWith } from '../../../src/providers/answers/smtp/classify_smtp.ts';
import type { SmtpPhase, VerdictName } from '../../../src/providers/answers/verdicts.ts';
import { endsSend } from './labelled.ts';
import { spell } from './wordings.ts';

/** Words that no rule knows, by the tokens that they have. */
const WORDS = ['lorga', 'tirvu', 'mesdo', 'palfi'];
const CODES = ['=rcpt', '=550'];

/** A model in which each word, and each code, has a weight for some classes. */
const modelOf = (
  ofWords: Partial<Record<VerdictName, number>>,
  ofCodes: Partial<Record<VerdictName, number>> = {},
): Model => {
  const classes = Object.keys({ unsure: 0, ...ofWords, ...ofCodes }) as VerdictName[];
  const tokens = [...WORDS, ...CODES];
  const weights = tokens.flatMap((token) =>
    classes.map((name) => (WORDS.includes(token) ? ofWords : ofCodes)[name] ?? 0),
  );
  return {
    classes,
    tokens: new Map(tokens.map((token, at) => [token, at])),
    weights: Int8Array.from(weights),
  };
};

type Changes = {
  rules?: VerdictName;
  by?: Finding['by'];
  tokens?: string[];
  words?: string;
  mayEnd?: boolean;
  settle?: (means: VerdictName) => VerdictName;
};

/** What is made of the four words, as the score of a class is twice the weight of a word. */
const weigh = (model: Model, changes: Changes = {}): VerdictName =>
  weighModel(
    model,
    {
      tokens: changes.tokens ?? WORDS,
      words: changes.words ?? WORDS.join(' '),
      mayEnd: changes.mayEnd ?? true,
    },
    { means: changes.rules ?? 'unsure', by: changes.by ?? 'code' },
    changes.settle ?? ((means) => means),
  );

describe('an end of a send', () => {
  const POLICY = modelOf({ recipient_policy: 20 });

  test('is taken from words that are sure of it', () => {
    expect(weigh(POLICY)).toBe('recipient_policy');
  });

  test.each<[string, Changes]>([
    ['the code and the command must allow it', { mayEnd: false }],
    ['no words of the account stand beside it', { words: 'your account is over its limit' }],
    ['no code was contradicted by words', { by: 'doubt' }],
    ['four of its words are known', { tokens: WORDS.slice(1) }],
    ['the rules say nothing, or speak of a reputation', { rules: 'relay_denied' }],
  ])('only where %s', (_, changes) => {
    expect(weigh(POLICY, changes)).toBe(changes.rules ?? 'unsure');
  });

  test.each([
    [6, 'recipient_policy'],
    [5, 'unsure'],
  ])('by a margin of 12 over the side that sends: twice %i', (apart, expected) => {
    expect(weigh(modelOf({ recipient_policy: 20, tls_required: 20 - apart }))).toBe(expected);
  });

  test.each([
    [8, 'recipient_unknown'],
    [7, 'unsure'],
  ])('by a margin of 16 where it suppresses a person: twice %i', (apart, expected) => {
    expect(weigh(modelOf({ recipient_unknown: 20, tls_required: 20 - apart }))).toBe(expected);
  });

  test.each<[number, VerdictName, VerdictName]>([
    [8, 'recipient_policy', 'recipient_policy'],
    [7, 'recipient_policy', 'sender_reputation'],
    [20, 'content_refused', 'sender_reputation'],
    [20, 'recipient_unknown', 'sender_reputation'],
  ])('against a reputation, by twice %i: %s', (apart, name, expected) => {
    const model = modelOf({ [name]: 30, tls_required: 30 - apart });
    expect(weigh(model, { rules: 'sender_reputation' })).toBe(expected);
  });

  test('not by codes and a command that speak louder than the words', () => {
    const model = modelOf({ recipient_policy: 4 }, { recipient_policy: 46 });
    expect(weigh(model, { tokens: [...WORDS, ...CODES] })).toBe('unsure');
  });

  test('does not become a suppression', () => {
    const model = modelOf({ recipient_unknown: 40 });
    expect(weigh(model, { rules: 'recipient_policy' })).toBe('recipient_policy');
  });
});

describe('any other verdict', () => {
  test('is taken where it scores higher than that of the rules with its bonus', () => {
    expect(weigh(modelOf({ greylisted_relay: 10 }))).toBe('greylisted_relay');
    const rules = 'temporary_local';
    expect(weigh(modelOf({ greylisted_relay: 9 }), { rules, by: 'rule' })).toBe('greylisted_relay');
    expect(weigh(modelOf({ greylisted_relay: 8, [rules]: 1 }), { rules, by: 'rule' })).toBe(rules);
  });

  test.each<[string, Model, Changes]>([
    ['one word alone', modelOf({ greylisted_relay: 40 }), { tokens: ['lorga'] }],
    [
      'codes, where words speak against it',
      modelOf({ greylisted_relay: -1 }, { greylisted_relay: 46 }),
      { tokens: [...WORDS, ...CODES] },
    ],
    ['what resembles no class', modelOf({ unsure: -20, greylisted_relay: -3 }), {}],
    ['what the rules are sure of', modelOf({ greylisted_relay: 15 }), { by: 'host' }],
  ])('is not taken from %s', (_, model, changes) => {
    expect(weigh(model, changes)).toBe('unsure');
  });

  test.each([
    [4, 'tls_required'],
    [3, 'temporary_local'],
  ])('that asks for a repair where time helps needs words of 8: twice %i', (weight, expected) => {
    const model = modelOf({ tls_required: weight, temporary_local: -20 });
    expect(weigh(model, { rules: 'temporary_local' })).toBe(expected);
  });

  test('is what it is after the command and with the code', () => {
    const settle = () => 'temporary_recipient' as const;
    expect(weigh(modelOf({ recipient_policy: 20 }), { settle })).toBe('temporary_recipient');
  });
});

describe('the code and the command allow an end', () => {
  const TEXT = 'Lorgab tirvun mesdok palfim';
  const model = modelOf({ recipient_policy: 46 });

  test.each<[SmtpPhase, string, boolean]>([
    ['rcpt', '550', true],
    ['body', '554 5.7.1', true],
    ['data', '550', true],
    ['rcpt', '450', false],
    ['rcpt', '503', false],
    ['rcpt', '549', false],
    ['mail', '550', false],
    ['any', '550', false],
    ['connect', '550', false],
    ['auth', '550', false],
  ])('at %s with %s: %s', (phase, code, expected) => {
    expect(endsSend(classifyReplyWith(model, { phase, reply: `${code} ${TEXT}` }))).toBe(expected);
  });

  test.each([
    [200, false],
    [400, true],
    [422, true],
    [401, false],
    [402, false],
    [403, false],
    [404, false],
    [405, false],
    [410, false],
    [420, false],
    [429, false],
    [500, false],
    [503, false],
  ])('of an API with %i: %s', (status, expected) => {
    const answer = { provider: 'any', status, body: JSON.stringify({ message: TEXT }) };
    expect(
      endsSend(classifyAnswerWith(model, answer)),
      spell(classifyAnswerWith(model, answer)),
    ).toBe(expected);
  });
});
