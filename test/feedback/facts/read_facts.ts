import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadNotice, ReadResult } from '../../../src/feedback/dialects/dialect.ts';
import { dialectOf } from '../../../src/feedback/dialects/dialects.ts';
import type { Source } from '../../../src/feedback/dialects/dialects.ts';
import { REPLIES_FOLDER } from '../../support/replies_folder.ts';

/** A payload that a vendor posts, and what it means. */
export type Fact = {
  id: string;
  provider: string;
  payload: unknown;
  meaning: string;
  recipient: string | null;
  /** Where the payload names the email: paths, separated by `;` or `/`, with `*` for any name. */
  message_id_field: string | null;
};

const readFile = (folder: string, name: string): Fact[] =>
  JSON.parse(readFileSync(join(folder, name), 'utf8')) as Fact[];

/** Reads the facts of this folder and those of our own, or only those of `REPLIES_FOLDER`. */
export const readFacts = (): Fact[] =>
  REPLIES_FOLDER === null
    ? ['webhooks.json', 'composed.json', 'unseen13.json'].flatMap((name) =>
        readFile(import.meta.dirname, name),
      )
    : readFile(REPLIES_FOLDER, 'webhooks.json');

/** Returns the source of a fact: "Amazon SES (SNS)" is `amazon-ses`. */
export const sourceOfFact = ({ provider }: Fact): Source =>
  provider.replace(/ \(.*/, '').toLowerCase().replaceAll(' ', '-') as Source;

/** A notification of Amazon SNS holds the payload as text. */
const bodyOf = ({ provider, payload }: Fact): string =>
  provider === 'Amazon SES (SNS)'
    ? (payload as { Message: string }).Message
    : JSON.stringify(payload);

export const readFact = async (fact: Fact): Promise<ReadResult> =>
  dialectOf(sourceOfFact(fact)).read({
    raw: Buffer.from(bodyOf(fact)),
    contentType: 'application/json',
    receivedAt: new Date('2026-11-20T23:00:00.000Z'),
  });

const BY_KIND: Partial<Record<ReadNotice['kind'], string>> = {
  delivered: 'delivered',
  opened: 'opened',
  clicked: 'clicked',
  complained: 'complaint',
  unsubscribed: 'unsubscribe',
  deferred: 'deferred',
  rejected: 'rejected_by_provider',
  failed: 'rejected_by_provider',
};

/** Returns what a feedback event means, in the words of the facts. */
export const labelOf = (notice: ReadNotice | undefined): string => {
  if (notice?.kind !== 'bounced') return (notice && BY_KIND[notice.kind]) ?? 'other';
  if (notice.suppresses === 'provider_suppressed') return 'rejected_by_provider';
  return notice.bounceType === 'hard' ? 'hard_bounce' : 'soft_bounce';
};

const valuesAt = (value: unknown, path: readonly string[]): unknown[] => {
  const [name, ...rest] = path;
  if (name === undefined) return [value];
  if (Array.isArray(value)) return value.flatMap((one) => valuesAt(one, path));
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value).filter(([key]) => name === '*' || key === name);
  return members.flatMap(([, member]) => valuesAt(member, rest));
};

/** The whole of `message.headers.message-id` is one path; so is `data.email_id`. */
const pathsOf = (field: string): string[][] =>
  field
    .replaceAll(/\([^)]*\)/g, '')
    .split(/[;/]/)
    .map((path) => path.trim().split('.'));

/** Returns the ids under which a payload names its email. */
export const messageIdsOf = (fact: Fact): string[] => {
  const body = JSON.parse(bodyOf(fact)) as unknown;
  const paths = pathsOf(fact.message_id_field ?? '');
  // "msys.*.transmission_id / message_id": the second path begins as the first.
  const prefix = paths[0]?.slice(0, -1) ?? [];
  return paths
    .flatMap((path) => [...valuesAt(body, path), ...valuesAt(body, [...prefix, ...path])])
    .filter((value) => typeof value === 'string' || typeof value === 'number')
    .map(String);
};
