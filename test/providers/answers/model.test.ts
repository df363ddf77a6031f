// The model that reads what no rule knows: where it comes from, what it adds, and what it may never say.
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
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
import { describeMisses, endsSend, judgeReply, toReply } from './labelled.ts';
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
    expect(() => readModel('unsure sender_dns\nword PP\nother P\n')).toThrow('no weights: other P');
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
    ['rcpt', '550 That person left this company', 'recipient/recipient_unknown/never'],
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
    expect(spell(classifyAnswerWith(null, answer))).toBe('message/line_or_syntax/never');
  });
});

describe('the model ends no send', () => {
  const LEFT = 'That person left this company';
  const ENDS = { phase: 'rcpt', reply: `550 ${LEFT}` } as const;

  test.each<[string, SmtpAnswer]>([
    ['by a code that time heals', { phase: 'rcpt', reply: `450 ${LEFT}` }],
    ['by a code of the command', { phase: 'rcpt', reply: `503 ${LEFT}` }],
    ['before a recipient was named', { phase: 'mail', reply: `550 ${LEFT}` }],
    ['where the command is not known', { phase: 'any', reply: `550 ${LEFT}` }],
    [
      'beside words of the account',
      { phase: 'rcpt', reply: `550 ${LEFT}, your account is over its limit` },
    ],
    ['by few words', { phase: 'rcpt', reply: '550 Person left' }],
  ])('%s', (_, answer) => {
    expect(endsSend(byBoth(ENDS))).toBe(true);
    expect(endsSend(byBoth(answer))).toBe(false);
  });

  const replies = sets.flatMap((set) => set.replies).map(toReply);
  const words = new Set(
    replies.flatMap(({ reply }) => reply.toLowerCase().match(/[a-z]{2,20}/g) ?? []),
  );
  const OWN = 'your account exceeded its quota';

  test('whatever is said, beside words of the account', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 12 }), (found) => {
        const answer = { phase: 'rcpt', reply: `550 ${OWN} ${found.join(' ')}` } as const;
        return endsSend(byRules(answer)) || !endsSend(byBoth(answer));
      }),
      { numRuns: 1_000 },
    );
  });

  test('whatever is said, of an API that answers 401, 403 or 429', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...words), { maxLength: 12 }),
        fc.constantFrom(401, 403, 429, 500, 503),
        (found, status) => {
          const answer = {
            provider: 'new',
            status,
            body: JSON.stringify({ message: found.join(' ') }),
          };
          return (
            endsSend(classifyAnswerWith(null, answer)) ||
            !endsSend(classifyAnswerWith(loadModel(), answer))
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

/** Each set judged by a model that has not seen it, and by rules that have: what a model can spoil at worst. */
test.each(sets.filter(({ name }) => !/^train|^wordings/.test(name)))(
  'a model that has not seen a set ends next to nothing of it wrongly: $name',
  ({ name, replies }) => {
    const model = trainModel(examplesOf(sets.filter((set) => set.name !== name)));
    const judged = replies.map((each) =>
      judgeReply(each, (reply) => classifyReplyWith(model, reply)),
    );
    const wrong = judged.filter(({ wouldEnd, wouldSuppress }) => wouldEnd || wouldSuppress);
    expect(wrong.length, describeMisses(wrong).join('\n')).toBeLessThanOrEqual(
      Math.ceil(replies.length / 200),
    );
  },
);
