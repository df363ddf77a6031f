// The model that reads what no rule knows: where it comes from, what it adds, and what it may never say.
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  loadModel,
  MODEL_FILE,
  readModel,
  scoresOf,
  writeModel,
} from '../../../src/providers/answers/model/model.ts';
import { classifyAnswerWith } from '../../../src/providers/answers/http/classify_http.ts';
import { classifyReplyWith } from '../../../src/providers/answers/smtp/classify_smtp.ts';
import type { SmtpAnswer } from '../../../src/providers/answers/smtp/read_reply.ts';
import type { SmtpPhase } from '../../../src/providers/answers/answers.ts';
import { describeMisses, endsSend, judgeAnswer, judgeReply, suppresses } from './labelled.ts';
import { readSets } from './train/sets.ts';
import type { LabelledSet } from './train/sets.ts';
import { examplesOf, trainModel } from './train/train_model.ts';
import { spell } from './wordings.ts';

const sets = readSets();
const byRules = (answer: SmtpAnswer) => classifyReplyWith(null, answer);
const byBoth = (answer: SmtpAnswer) => classifyReplyWith(loadModel(), answer);

describe('the file of the model', () => {
  test('is what the training makes of the labelled answers: make answers-model', () => {
    const trained = writeModel(trainModel(examplesOf(sets)));
    expect(trained === readFileSync(MODEL_FILE, 'utf8')).toBe(true);
  });

  test('is read as it was written', () => {
    const text = readFileSync(MODEL_FILE, 'utf8');
    expect(writeModel(readModel(text)) === text).toBe(true);
    expect(text.length).toBeLessThan(1_000_000);
  });

  test('is refused where a weight is missing', () => {
    expect(() => readModel('unsure sender_dns\nword PP\nother P\n')).toThrow(
      'run make answers-model. The line: other P',
    );
  });
});

test('a model of all other sets is right about most of a set, without any rule', () => {
  const isOfTest = ({ name }: LabelledSet) => name === 'unseen15';
  const model = trainModel(examplesOf(sets.filter((set) => !isOfTest(set))));
  const examples = examplesOf(sets.filter(isOfTest));
  const right = examples.filter(({ tokens, means }) => {
    const scores = scoresOf(model, tokens);
    return model.classes[scores.indexOf(Math.max(...scores))] === means;
  }).length;
  expect(right / examples.length).toBeGreaterThan(0.9);
});

describe('words that no rule knows are read by the model', () => {
  test.each<[SmtpPhase, string, string]>([
    ['connect', '550 We take nothing from dial-up machines', 'relay/reputation_refused/after_fix'],
    ['connect', '421 Too much going on, open fewer channels', 'connection/connection_limit/later'],
    [
      'body',
      '550 Signature of the domain is broken, policy says reject',
      'sender/reputation_refused/after_fix',
    ],
    [
      'rcpt',
      '550 The lady retired last spring and reads no mail',
      'recipient/recipient_disabled/never',
    ],
  ])('at %s: %s', (phase, reply, expected) => {
    expect(spell(byBoth({ phase, reply }))).toBe(expected);
    expect(spell(byRules({ phase, reply }))).not.toBe(expected);
  });

  test('but codes without a known word mean what the tables say', () => {
    const reply = '550 5.7.1 Qwerty uiopas';
    expect(spell(byBoth({ phase: 'any', reply }))).toBe(spell(byRules({ phase: 'any', reply })));
  });

  test('of an API too', () => {
    const answer = {
      provider: 'new',
      status: 400,
      body: '{"oops":"","message":"Your wallet has no coins left"}',
    };
    expect(spell(classifyAnswerWith(loadModel(), answer))).toBe('account/account_limit/after_fix');
    expect(spell(classifyAnswerWith(null, answer))).toBe('relay/other/later');
  });
});

/** Each set judged by a model that has not seen it, and by rules that have: what a model can spoil at worst. */
test.each(sets.filter(({ name }) => !/^train|^wordings/.test(name)))(
  'a model that has not seen a set ends next to nothing of it wrongly: $name',
  ({ name, replies, answers }) => {
    const model = trainModel(examplesOf(sets.filter((set) => set.name !== name)));
    const judged = [
      ...replies.map((each) => judgeReply(each, (reply) => classifyReplyWith(model, reply))),
      ...answers.map((each) => judgeAnswer(each, (answer) => classifyAnswerWith(model, answer))),
    ];
    expect(judged).not.toEqual([]);
    const wrong = judged.filter(({ wouldEnd, wouldSuppress }) => wouldEnd || wouldSuppress);
    const most = Math.ceil(judged.length / 200);
    expect(wrong.length, describeMisses(wrong).join('\n')).toBeLessThanOrEqual(most);
  },
);

/** Sentences about the account, the sender, the connection and the relay, without labels, in many languages. */
const HOSTILE = readFileSync(join(import.meta.dirname, 'hostile', 'smtp_replies.txt'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [phase = 'any', ...reply] = line.split('|');
    return { phase: phase as SmtpPhase, reply: reply.join('|') };
  });

test('of hostile sentences the model ends one in thirty and suppresses one in a hundred at most', () => {
  expect(HOSTILE.length).toBeGreaterThan(600);
  const open = HOSTILE.filter((answer) => !endsSend(byRules(answer)));
  expect(open.filter((answer) => endsSend(byBoth(answer))).length).toBeLessThanOrEqual(
    open.length / 30,
  );
  const isNew = (answer: SmtpAnswer) => suppresses(byBoth(answer)) && !suppresses(byRules(answer));
  expect(HOSTILE.filter(isNew).length).toBeLessThanOrEqual(HOSTILE.length / 100);
});

test('of words of habit the model makes an end in at most one of thirty, whatever the code', () => {
  const words = fc.constantFrom(
    ...(
      'the of and to in is it that for on with as was at by this have from or had not ' +
      'are but all when were we there can which said if do will each about how up out them then she many some so ' +
      'other into has more two like him see time could make than first been who now people my over did down only ' +
      'way find use may long little very after words called just where most know'
    ).split(' '),
  );
  const replies = fc.sample(fc.array(words, { minLength: 4, maxLength: 8 }), {
    numRuns: 600,
    seed: 1,
  });
  const ends = replies.filter((found, at) => {
    const code = ['550', '550 5.0.0', '553'][at % 3] ?? '550';
    const answer = { phase: 'rcpt', reply: `${code} ${found.join(' ')}` } as const;
    return endsSend(byBoth(answer)) && !endsSend(byRules(answer));
  });
  expect(ends.length).toBeLessThanOrEqual(20);
});
