import type { DnsQueries } from '../dns.ts';
import { FOUND_RECORDS_MAX, toFinding, toUnknown, toVerdict } from '../findings.ts';
import type { Finding, Problem } from '../findings.ts';
import { registeredOf } from '../names.ts';
import { isBadlySplit } from './correct.ts';
import { SPF_LOOKUPS_MAX } from './evaluate.ts';
import { describeFault } from './faults.ts';
import { findAuthorization } from './authorization.ts';
import type { Authorization } from './authorization.ts';
import { listProblems } from './judge.ts';
import { countLookups, everyUse, listFaults } from './measure.ts';
import { propose } from './merge.ts';
import { isSpf } from './record.ts';
import { survey } from './survey.ts';
import type { Survey } from './survey.ts';

export { evaluateSpf, SPF_LOOKUPS_MAX, SPF_VOIDS_MAX } from './evaluate.ts';
export type { SpfClient, SpfResult } from './evaluate.ts';
export { propose } from './merge.ts';
export { SPF_RECORD_CHARS_MAX } from './settle.ts';
export { readClient } from './address.ts';

/** Longer texts are several strings in DNS. */
const STRING_BYTES_MAX = 255;

export type SpfSubject = {
  /** The domain whose record is checked. */
  domain: string;
  /** A sender of that domain, for macros. */
  mailFrom: string;
  /** What the email provider has its customers include; null where that is not known. */
  include: string | null;
  /** Whether receivers evaluate this record for email of the provider, as that of its reverse-path. */
  isReversePath: boolean;
};

/**
 * Checks the SPF record of a domain as a receiver evaluates it (RFC 7208), and proposes one that authorizes every
 * sender of today and the email provider.
 */
export const checkSpf = async (dns: DnsQueries, given: SpfSubject): Promise<Finding> => {
  const subject = { ...given, include: await findInclude(dns, given) };
  const answer = await dns.texts(subject.domain, /^v=spf1/i);
  if (answer.kind === 'failed') return toUnknown(answer.why);
  const published = answer.kind === 'found' ? answer.records : [];
  const records = published.filter((strings) => isSpf(strings.join('')));
  if (records.length === 0) return describeMissing(subject, published);
  const texts = records.map((strings) => strings.join(''));
  const meant = records.map((strings) => strings.join(isBadlySplit(strings) ? ' ' : ''));
  const found = await survey(dns, subject, meant.length === 1 ? meant[0] : undefined);
  const authorization = await findBest(dns, subject, meant);
  const problems = [
    ...(records.some(isBadlySplit) ? [SPLIT] : []),
    ...listProblems(found, subject, authorization),
  ];
  const isUnknown = listFaults(found).some(({ kind }) => kind === 'unknown');
  const isCertain = problems.some(({ status }) => status === 'bad');
  if (!isCertain && (isUnknown || authorization === 'unknown'))
    return describeUnknown(dns, found, texts);
  const { publish, advice } = await advise(dns, subject, { texts: meant, problems, authorization });
  return toVerdict(problems, describeGood(found, subject), {
    found: texts,
    publish,
    advice: [...advice, ...describe(found)],
  });
};

/** What is to be included, if there is a record: to include a name without one is an error. */
const findInclude = async (
  dns: DnsQueries,
  { include, mailFrom }: SpfSubject,
): Promise<string | null> => {
  if (include === null) return null;
  const { text, fault } = await survey(dns, { domain: include, mailFrom });
  return text === null && fault === null ? null : include;
};

/** Of several records, one that authorizes the provider is enough: the proposal keeps what it says. */
const findBest = async (
  dns: DnsQueries,
  subject: SpfSubject,
  texts: readonly string[],
): Promise<Authorization> => {
  const all: Authorization[] = [];
  for (const text of texts.slice(0, FOUND_RECORDS_MAX))
    all.push(await findAuthorization(dns, subject, await survey(dns, subject, text)));
  const order = ['not_asked', 'whole', 'everyone', 'part', 'unknown', 'none'] as const;
  return order.find((one) => all.includes(one)) ?? 'none';
};

const SPLIT: Problem = {
  status: 'bad',
  code: 'spf_split',
  text: 'The record is split into strings without a blank between two terms. Receivers join them to one term.',
};

const toRecord = (domain: string, value: string) => ({ name: domain, type: 'TXT', value }) as const;

const describeMissing = ({ domain, include }: SpfSubject, others: readonly string[][]): Finding => {
  const summary = `There is no SPF record at ${domain}.`;
  const advice = [
    ...(others.length > 0
      ? ['Receivers ignore a text in which no blank follows "v=spf1". Replace it.']
      : []),
    ...(registeredOf(domain) === domain
      ? []
      : [`A record of ${registeredOf(domain)} does not apply to ${domain}.`]),
    ...(include === null
      ? [
          'Ask the email provider what to include, then publish one TXT record that ends with "-all".',
        ]
      : []),
  ];
  const value = include === null ? null : `v=spf1 include:${include} -all`;
  return toFinding(
    { status: 'bad', code: 'spf_missing', summary },
    {
      advice,
      found: others.map((strings) => strings.join('')),
      publish: value === null ? null : toRecord(domain, value),
    },
  );
};

const describeUnknown = (dns: DnsQueries, found: Survey, texts: readonly string[]): Finding => {
  const [fault] = listFaults(found);
  const rest = { found: [...texts], ...(fault ? { advice: [describeFault(fault)] } : {}) };
  return toUnknown(fault?.kind === 'unknown' ? fault.why : dns.silence, rest);
};

const describeGood = (found: Survey, { include }: SpfSubject) => {
  const cost = `${countLookups(found)} of ${SPF_LOOKUPS_MAX} DNS lookups`;
  return {
    code: 'spf_ok',
    summary:
      include === null
        ? `There is one SPF record. It needs ${cost}.`
        : `The SPF record authorizes ${include}. It needs ${cost}.`,
  };
};

type Judged = {
  texts: readonly string[];
  problems: readonly Problem[];
  authorization: Authorization;
};

/** What to publish in place of the records that are there, and what to know about it. */
const advise = async (
  dns: DnsQueries,
  subject: SpfSubject,
  { texts, problems, authorization }: Judged,
): Promise<Pick<Finding, 'publish' | 'advice'>> => {
  if (problems.length === 0) return { publish: null, advice: [] };
  const isMissing = ['none', 'part', 'everyone'].includes(authorization);
  const proposal = await propose(dns, {
    domain: subject.domain,
    mailFrom: subject.mailFrom,
    records: texts,
    include: isMissing ? subject.include : null,
  });
  const said = problems.map(({ text }) => text);
  if (proposal.kind === 'none')
    return { publish: null, advice: said.includes(proposal.why) ? [] : [proposal.why] };
  const { value, notes } = proposal;
  const isSplit = problems.includes(SPLIT);
  if (texts.length === 1 && value === texts[0] && !isSplit) return { publish: null, advice: [] };
  const advice = [
    ...(texts.length > 1 ? ['Publish the proposed record in place of all of them.'] : []),
    ...(problems.some(({ code }) => code === 'spf_open') ? [NAMED_ONLY] : []),
    ...notes,
    ...(value.length > STRING_BYTES_MAX ? [LONG] : []),
  ];
  return { publish: toRecord(subject.domain, value), advice };
};

const NAMED_ONLY =
  'The proposal authorizes only the senders that the record names. Add every other sender before you publish it.';
const LONG =
  `The record is longer than ${STRING_BYTES_MAX} characters. ` +
  'If the DNS host does not split it, enter several quoted strings.';

/** What a check cannot find out. */
const describe = (found: Survey): string[] => {
  const [use] = [...everyUse(found)].filter(({ isOfMessage }) => isOfMessage);
  return use
    ? [`"${use.text}" depends on each message. A test email shows what it authorizes.`]
    : [];
};
