// Replies and answers whose meaning is known, and how many of them the classifiers get right.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { classifyHttpAnswer, classifySmtpReply } from '../../../src/providers/answers/answers.ts';
import type {
  Classification,
  HttpAnswer,
  SmtpAnswer,
  SmtpPhase,
} from '../../../src/providers/answers/answers.ts';

export type Labels = Pick<Classification, 'scope' | 'meaning' | 'retry'>;
type Addresses = { from?: string; to?: string };

/** One entry of a `smtp_replies*.json`. */
export type LabelledReply = Labels &
  Addresses & { id: string; sender: string; phase: SmtpPhase | 'starttls'; reply: string };

/** One entry of a `http_answers*.json`. */
export type LabelledAnswer = Labels &
  Addresses & {
    id: string;
    provider: string;
    http_status: number;
    headers?: Record<string, string>;
    exception?: string;
    body: string;
  };

export type Judged = {
  id: string;
  /** What was answered, on one line. */
  text: string;
  expected: Labels;
  found: Labels;
  isRight: boolean;
  /** An answer about the account, the sender, the connection or the relay that would end the send. */
  wouldEnd: boolean;
  /** An answer that suppresses no recipient, and would suppress one. */
  wouldSuppress: boolean;
};

const addressesOf = ({ from, to }: Addresses): Addresses => ({
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
});

export const endsSend = ({ scope, retry }: Labels): boolean =>
  (scope === 'recipient' || scope === 'message') && retry !== 'later';

export const suppresses = ({ meaning, retry }: Labels): boolean =>
  (meaning === 'recipient_unknown' || meaning === 'recipient_disabled') && retry !== 'later';

const judge = (id: string, text: string, expected: Labels, found: Labels): Judged => ({
  id,
  text: text.replaceAll(/\s+/g, ' ').slice(0, 300),
  expected,
  found,
  isRight:
    expected.scope === found.scope &&
    expected.meaning === found.meaning &&
    expected.retry === found.retry,
  wouldEnd: endsSend(found) && !['recipient', 'message'].includes(expected.scope),
  wouldSuppress: suppresses(found) && !suppresses(expected),
});

export const toReply = (entry: LabelledReply): SmtpAnswer => ({
  reply: entry.reply,
  phase: entry.phase === 'starttls' ? 'ehlo' : entry.phase,
  ...addressesOf(entry),
});

export const judgeReply = (entry: LabelledReply, classify = classifySmtpReply): Judged => {
  const { id, sender, reply } = entry;
  const found = classify(toReply(entry));
  return judge(id, `${sender}, ${entry.phase}: ${reply}`, entry, found);
};

export const toAnswer = (entry: LabelledAnswer): HttpAnswer => {
  const { provider, http_status: status, body, headers, exception } = entry;
  return {
    provider,
    status,
    body,
    ...(headers === undefined ? {} : { headers }),
    ...(exception === undefined ? {} : { exception }),
    ...addressesOf(entry),
  };
};

export const judgeAnswer = (entry: LabelledAnswer, classify = classifyHttpAnswer): Judged => {
  const { id, provider, http_status: status, body, exception } = entry;
  const found = classify(toAnswer(entry));
  return judge(id, `${provider}, ${status} ${exception ?? ''}: ${body}`, entry, found);
};

/** The entries of a folder's files whose names begin with `kind`. Throws where a file is no array. */
const read = (folder: string, kind: string): unknown[] =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.startsWith(kind) && name.endsWith('.json'))
    .toSorted()
    .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as unknown[]);

/** The labelled replies of a folder. */
export const readReplies = (folder: string, kind = 'smtp_replies'): LabelledReply[] =>
  read(folder, kind) as LabelledReply[];

/** The labelled answers of a folder. */
export const readAnswers = (folder: string, kind = 'http_answers'): LabelledAnswer[] =>
  read(folder, kind) as LabelledAnswer[];

export const judgeFolder = (folder: string): { replies: Judged[]; answers: Judged[] } => ({
  replies: readReplies(folder).map((reply) => judgeReply(reply)),
  answers: readAnswers(folder).map((answer) => judgeAnswer(answer)),
});

export const shareRight = (judged: readonly Judged[]): number =>
  judged.length === 0 ? 1 : judged.filter(({ isRight }) => isRight).length / judged.length;

const spell = ({ scope, meaning, retry }: Labels): string => `${scope}/${meaning}/${retry}`;

/** One line for each that is wrong, and before it a mark where it would end the send. */
export const describeMisses = (judged: readonly Judged[]): string[] =>
  judged
    .filter(({ isRight }) => !isRight)
    .map(
      ({ id, text, expected, found, wouldEnd }) =>
        `${wouldEnd ? 'ENDS THE SEND ' : ''}${id}: expected ${spell(expected)}, ` +
        `found ${spell(found)} (${text})`,
    );
