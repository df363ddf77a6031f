// Trains the model of the answers that no rule knows: `make answers-model [table=yes]`.
import { writeFileSync } from 'node:fs';
import { classifyAnswerWith } from '../src/providers/answers/http/classify_http.ts';
import { MODEL_FILE, writeModel } from '../src/providers/answers/model/model.ts';
import type { Model } from '../src/providers/answers/model/model.ts';
import { classifyReplyWith } from '../src/providers/answers/smtp/classify_smtp.ts';
import { judgeAnswer, judgeReply } from './providers/answers/labelled.ts';
import type { Judged } from './providers/answers/labelled.ts';
import { readSets } from './providers/answers/train/sets.ts';
import type { LabelledSet } from './providers/answers/train/sets.ts';
import { examplesOf, trainModel } from './providers/answers/train/train_model.ts';

const sets = readSets();

const write = (): void => {
  const text = writeModel(trainModel(examplesOf(sets)));
  writeFileSync(MODEL_FILE, text);
  process.stdout.write(`${text.split('\n').length - 2} tokens, ${text.length} characters\n`);
};

const summarize = (judged: readonly Judged[]): string => {
  const right = judged.filter(({ isRight }) => isRight).length;
  const harmful = judged.filter(({ wouldEnd, wouldSuppress }) => wouldEnd || wouldSuppress).length;
  return `${((100 * right) / judged.length).toFixed(1).padStart(5)} % | ${harmful}`;
};

const judgeSet = ({ replies, answers }: LabelledSet, model: Model | null): Judged[] => [
  ...replies.map((each) => judgeReply(each, (reply) => classifyReplyWith(model, reply))),
  ...answers.map((each) => judgeAnswer(each, (answer) => classifyAnswerWith(model, answer))),
];

/** Judges each set by a model of all others. */
const printTable = (): void => {
  const byRules: Judged[] = [];
  const byBoth: Judged[] = [];
  process.stdout.write('| set | answers | rules | harmful | with the model | harmful |\n');
  process.stdout.write('|---|---|---|---|---|---|\n');
  for (const set of sets) {
    const others = sets.filter(({ name }) => name !== set.name);
    const rules = judgeSet(set, null);
    const both = judgeSet(set, trainModel(examplesOf(others)));
    byRules.push(...rules);
    byBoth.push(...both);
    process.stdout.write(
      `| ${set.name} | ${rules.length} | ${summarize(rules)} | ${summarize(both)} |\n`,
    );
  }
  process.stdout.write(
    `| all | ${byRules.length} | ${summarize(byRules)} | ${summarize(byBoth)} |\n`,
  );
};

if (process.argv[2] === 'table=yes') printTable();
else write();
