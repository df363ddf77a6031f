// The labelled answers that the model is trained with, set by set.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readAnswers, readReplies } from '../labelled.ts';
import type { LabelledAnswer, LabelledReply } from '../labelled.ts';

export type LabelledSet = { name: string; replies: LabelledReply[]; answers: LabelledAnswer[] };

const FOLDER = join(import.meta.dirname, '..');
const FILE = /^(?:smtp_replies|http_answers)(?:_(?<name>.+))?\.json$/;

const namesIn = (folder: string): string[] => {
  const names = readdirSync(join(FOLDER, folder)).flatMap((file) => {
    const match = FILE.exec(file);
    return match ? (match.groups?.['name'] ?? '') : [];
  });
  return [...new Set(names)].toSorted();
};

/** Returns the facts, each collected set, and those that were written to learn from. */
export const readSets = (): LabelledSet[] =>
  ['facts', 'collected', 'training'].flatMap((folder) =>
    namesIn(folder).map((name) => {
      const ending = `${name === '' ? '' : '_'}${name}.json`;
      return {
        name: name === '' ? folder : name,
        replies: readReplies(join(FOLDER, folder), `smtp_replies${ending}`),
        answers: readAnswers(join(FOLDER, folder), `http_answers${ending}`),
      };
    }),
  );
