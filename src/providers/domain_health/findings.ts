/** How a finding stands. */
export const STATUSES = ['good', 'warning', 'bad', 'unknown'] as const;
export type Status = (typeof STATUSES)[number];

/** A record to publish, as the form of a DNS host asks for it. */
export type DnsRecord = { name: string; type: 'TXT' | 'CNAME' | 'MX'; value: string };

/** What was found out about one thing, and what to do about it. */
export type Finding = {
  status: Status;
  /** A stable name of what was found. */
  code: string;
  /** What was found, and what to do first. */
  summary: string;
  /** What else to know and to do, the most important first. */
  advice: string[];
  /** The records that are there. */
  found: string[];
  /** What to publish; null when nothing is to be done, or only the email provider knows. */
  publish: DnsRecord | null;
  /** What to publish besides. */
  publish_also: DnsRecord[];
};

/** One thing that is to be said about a record. */
export type Problem = { status: 'bad' | 'warning' | 'unknown'; code: string; text: string };

/** How many records a finding shows, and how much of each: name servers may answer anything. */
export const FOUND_RECORDS_MAX = 10;
export const FOUND_CHARS_MAX = 1_000;
/** How many sentences of advice a finding has. */
const ADVICE_MAX = 8;

const WORST_FIRST: readonly Status[] = ['bad', 'unknown', 'warning', 'good'];

/** Returns the worst of some states; `good` where there are none. */
export const worstOf = (all: readonly { status: Status }[]): Status =>
  WORST_FIRST.find((status) => all.some((one) => one.status === status)) ?? 'good';

/** Returns a text that can be shown and stored: of one line, and cut where it is too long. */
export const toShown = (text: string): string => {
  const line = text.toWellFormed().replaceAll(/\p{Cc}/gu, '\ufffd');
  return line.length > FOUND_CHARS_MAX ? `${line.slice(0, FOUND_CHARS_MAX)}…` : line;
};

/** Returns some names in a sentence: the first few, and how many more there are. */
export const listed = (names: readonly string[], most = 5): string => {
  const shown = names.slice(0, most).map(toShown).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
};

/** How long the value of a proposed record may be. */
export const VALUE_CHARS_MAX = 4_096;

/** Whether a record can be entered at any DNS host: a name server may have answered a text that cannot. */
const isPublishable = ({ name, value }: DnsRecord): boolean =>
  /^[\x20-\x7e]+$/.test(name + value) && value.length <= VALUE_CHARS_MAX;

type Rest = Partial<Pick<Finding, 'advice' | 'found' | 'publish' | 'publish_also'>>;

/** Makes a finding, its records bounded. */
export const toFinding = (
  { status, code, summary }: Pick<Finding, 'status' | 'code' | 'summary'>,
  { advice = [], found = [], publish = null, publish_also = [] }: Rest = {},
): Finding => ({
  status,
  code,
  summary: toShown(summary),
  advice: advice.slice(0, ADVICE_MAX).map(toShown),
  found: found.slice(0, FOUND_RECORDS_MAX).map(toShown),
  publish: publish && isPublishable(publish) ? publish : null,
  publish_also: publish_also.filter(isPublishable),
});

/** Makes a finding of problems: the worst is its summary, the others are advice. Without any it is good. */
export const toVerdict = (
  problems: readonly Problem[],
  good: { code: string; summary: string },
  { advice = [], ...rest }: Rest = {},
): Finding => {
  const status = worstOf(problems);
  const first = problems.find((problem) => problem.status === status);
  if (!first) return toFinding({ status: 'good', ...good }, { advice, ...rest });
  const others = problems.filter((problem) => problem !== first).map(({ text }) => text);
  const said = { status, code: first.code, summary: first.text };
  return toFinding(said, { advice: [...others, ...advice], ...rest });
};

/** What is said where name servers did not answer, or the check had to stop. */
export const toUnknown = (why: 'no_answer' | 'limit', rest: Rest = {}): Finding =>
  toFinding(
    why === 'limit'
      ? {
          status: 'unknown',
          code: 'check_stopped',
          summary: 'The check reached its limit of DNS queries or time. Check again in a minute.',
        }
      : {
          status: 'unknown',
          code: 'no_answer',
          summary: 'The name servers did not answer. Check again in a minute.',
        },
    rest,
  );
