import { listed } from '../findings.ts';
import type { Problem } from '../findings.ts';
import type { Authorization } from './authorization.ts';
import { isAssigned } from './correct.ts';
import { SPF_LOOKUPS_MAX, SPF_VOIDS_MAX } from './evaluate.ts';
import { codeOfFault, describeFault, describeOpen } from './faults.ts';
import {
  authorizesAnyone,
  countLookups,
  findVoids,
  findVoidsBefore,
  everyUse,
  listFaults,
  strangersOf,
} from './measure.ts';
import { SURVEY_LOOKUPS_MAX } from './survey.ts';
import type { Survey, Use } from './survey.ts';

/** Networks with fewer bits in common are no network of one sender. */
const WIDE_PREFIXES = { 4: 8, 6: 16 } as const;

const bad = (code: string, text: string): Problem => ({ status: 'bad', code, text });
const warning = (code: string, text: string): Problem => ({ status: 'warning', code, text });

type RecordSubject = { domain: string; include: string | null; isReversePath: boolean };

/** Lists what is wrong with a record, what counts most first. Says nothing of what name servers did not answer. */
export const listProblems = (
  found: Survey,
  subject: RecordSubject,
  authorization: Authorization,
): Problem[] => [
  ...listErrors(found),
  ...(found.record ? listLimits(found) : []),
  ...(found.record ? listSenders(found, subject, authorization) : []),
  ...(found.record ? listWarnings(found) : []),
];

/** What makes the record an error for every receiver. */
const listErrors = (found: Survey): Problem[] =>
  listFaults(found)
    .filter(({ kind }) => kind !== 'unknown')
    .map((fault) => bad(codeOfFault(fault), describeFault(fault)));

const listLimits = (found: Survey): Problem[] => {
  const problems: Problem[] = [];
  const lookups = countLookups(found);
  const isLoop = listFaults(found).some(({ kind }) => kind === 'loop');
  if (lookups > SPF_LOOKUPS_MAX && !isLoop)
    problems.push(
      bad(
        'spf_lookups',
        `The SPF record needs ${atMost(lookups)} DNS lookups. ` +
          `Receivers stop after ${SPF_LOOKUPS_MAX} and treat the record as an error.`,
      ),
    );
  const missing = findVoids(found);
  const voids = missing.count > SPF_VOIDS_MAX ? missing : findVoidsBefore(found, 4);
  const forIpv6 = findVoidsBefore(found, 6);
  if (voids.count > SPF_VOIDS_MAX)
    problems.push(
      bad(
        'spf_voids',
        `${voids.count} DNS queries of the record find nothing (${listed(namesOf(voids.uses))}). ` +
          `Receivers accept ${SPF_VOIDS_MAX} and treat more as an error.`,
      ),
    );
  else if (forIpv6.count > SPF_VOIDS_MAX)
    problems.push(
      warning(
        'spf_voids_ipv6',
        `${forIpv6.count} DNS queries of the record find no IPv6 address (${listed(namesOf(forIpv6.uses))}). ` +
          'For senders that use IPv6, receivers may treat the record as an error.',
      ),
    );
  return problems;
};

/** A survey stops counting at some point. */
const atMost = (lookups: number): string =>
  lookups > SURVEY_LOOKUPS_MAX ? `more than ${SURVEY_LOOKUPS_MAX}` : `${lookups}`;

const namesOf = (uses: readonly Use[]): string[] => uses.map(({ text }) => text);

/** Which senders pass: none, all but the provider, or everyone. */
const listSenders = (
  found: Survey,
  { domain, include, isReversePath }: RecordSubject,
  authorization: Authorization,
): Problem[] => {
  const problems: Problem[] = [];
  const all = found.uses.at(-1)?.text ?? '';
  if (found.unreached.length > 0)
    problems.push(
      bad(
        'spf_unreached',
        `"${all}" stands before ${listed(found.unreached)}, which receivers never evaluate. Put "-all" at the end.`,
      ),
    );
  const { result, by } = strangersOf(found);
  if (result === 'pass') problems.push(bad('spf_open', describeOpen(by)));
  else if (found.unreached.length === 0 && !authorizesAnyone(found))
    problems.push(
      bad(
        'spf_no_senders',
        `The SPF record authorizes no server. It states that ${domain} sends no email.`,
      ),
    );
  if (authorization === 'none' || authorization === 'part')
    problems.push({
      // Where the provider sends from a reverse-path of its own, receivers never ask this record about it.
      status: isReversePath ? 'bad' : 'warning',
      code: authorization === 'part' ? 'spf_part_authorized' : 'spf_not_authorized',
      text:
        (authorization === 'part'
          ? `The SPF record authorizes only a part of the servers of ${include ?? ''}.`
          : `The SPF record does not authorize ${include ?? ''}.`) +
        (isReversePath
          ? ''
          : ' DMARC does not depend on it: the provider has a reverse-path of its own.'),
    });
  return problems;
};

const listWarnings = (found: Survey): Problem[] => [
  ...listEnd(found),
  ...[...everyUse(found)]
    .filter(isWide)
    .map(({ text }) =>
      warning(
        'spf_wide',
        `"${text}" authorizes a large part of the Internet. Name your own networks.`,
      ),
    ),
  ...found.uses
    .filter(({ term }) => term?.mechanism.kind === 'ptr')
    .map(({ text }) =>
      warning(
        'spf_ptr',
        `"${text}" is slow, and receivers may ignore it. Replace it by ip4 and ip6 terms.`,
      ),
    ),
  ...(found.record?.others ?? [])
    .filter(isAssigned)
    .map((text) => warning('spf_no_effect', `"${text}" has no effect. Write ":" in place of "=".`)),
  ...(found.record?.redirect && found.uses.at(-1)?.term
    ? [warning('spf_no_effect', `"${found.record.redirect.text}" has no effect beside "all".`)]
    : []),
];

/** How the record ends, or the one that it redirects to. */
const listEnd = (found: Survey): Problem[] => {
  const { result, by } = strangersOf(found);
  const redirect = found.uses.at(-1)?.child;
  const isRedirected = redirect && found.uses.at(-1)?.term === null;
  const end = isRedirected ? `The record of ${redirect.domain}` : 'The record';
  const isUnread = listFaults(found).length > 0;
  if (result === 'softfail')
    return [
      warning(
        'spf_softfail',
        `${end} ends with "~all". Tighten it to "-all" when DMARC reports show no other senders.`,
      ),
    ];
  if (result === 'neutral' && by)
    return [
      warning(
        'spf_neutral',
        `${end} ends with "?all", which refuses no sender. End it with "-all".`,
      ),
    ];
  return result === 'neutral' && !isUnread
    ? [
        warning(
          'spf_no_all',
          `${end} has no "all" at its end, so it refuses no sender. End it with "-all".`,
        ),
      ]
    : [];
};

const isWide = ({ term }: Use): boolean => {
  const mechanism = term?.mechanism;
  return (
    mechanism?.kind === 'ip' &&
    term?.qualifier === '+' &&
    mechanism.network.prefix > 0 &&
    mechanism.network.prefix < WIDE_PREFIXES[mechanism.network.family]
  );
};
