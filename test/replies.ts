// How many labelled replies of a folder are classified right: `make test-replies folder=<path>`.
import { describeMisses, judgeFolder, shareRight } from './providers/answers/labelled.ts';
import type { Judged } from './providers/answers/labelled.ts';

const RIGHT_MIN = 0.95;

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

const countByMeaning = (judged: readonly Judged[]): string[] => {
  const meanings = [...new Set(judged.map(({ expected }) => expected.meaning))].toSorted();
  return meanings.map((meaning) => {
    const ofMeaning = judged.filter(({ expected }) => expected.meaning === meaning);
    const right = ofMeaning.filter(({ isRight }) => isRight).length;
    return `  ${meaning.padEnd(24)}${String(right).padStart(5)} of ${ofMeaning.length}`;
  });
};

/** Prints one file kind and says whether it is good enough. */
const report = (name: string, judged: readonly Judged[]): boolean => {
  const share = shareRight(judged);
  const ending = judged.filter(({ wouldEnd }) => wouldEnd);
  const lines = [
    `${name}: ${judged.length} entries, ${percent(share)} right by scope, meaning and retry`,
    ...countByMeaning(judged),
    ...describeMisses(judged).map((miss) => `  wrong: ${miss}`),
    `  would wrongly end a send: ${ending.length}`,
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return share >= RIGHT_MIN && ending.length === 0;
};

const folder = process.argv[2] ?? '';
const { replies, answers } = judgeFolder(folder);
if (replies.length + answers.length === 0) {
  process.stderr.write(
    'make test-replies folder=<path>: a folder with smtp_replies*.json or http_answers*.json\n',
  );
  process.exitCode = 2;
} else {
  const good = [
    ...(replies.length > 0 ? [report('SMTP replies', replies)] : []),
    ...(answers.length > 0 ? [report('HTTPS answers', answers)] : []),
  ];
  process.exitCode = good.every(Boolean) ? 0 : 1;
}
