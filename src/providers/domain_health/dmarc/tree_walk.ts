import type { DnsQueries } from '../dns.ts';
import { isDmarc, readDmarc } from './record.ts';
import type { DmarcRecord } from './record.ts';
import { parentOf, registeredOf } from '../names.ts';

/** How many names a walk asks (RFC 9989 §4.10). */
const WALK_NAMES_MAX = 8;

/** What a walk found at one name: a record, several that count for nothing, or texts that are no record. */
export type Step = {
  domain: string;
  record: DmarcRecord | null;
  several: string[];
  /** Texts that mention DMARC and are no record. */
  others: string[];
};

export type TreeWalk = {
  /** From the domain upwards. */
  steps: Step[];
  /** Why a name server's silence leaves the walk open; null where it is complete. */
  failed: 'no_answer' | 'limit' | null;
};

/** The names that a walk asks: the domain, then those above it, without the longest (§4.10, steps 3 to 7). */
export const walkNames = (domain: string): string[] => {
  const names = [domain];
  const labels = domain.split('.');
  const start = Math.min(labels.length - 1, WALK_NAMES_MAX - 1);
  for (let name: string | null = labels.slice(-start).join('.'); name; name = parentOf(name))
    if (name !== domain) names.push(name);
  return names;
};

/** Walks up the tree from a domain, to the root or to a record that says where it ends (`psd=y`, `psd=n`). */
export const walkTree = async (dns: DnsQueries, domain: string): Promise<TreeWalk> => {
  const steps: Step[] = [];
  for (const name of walkNames(domain)) {
    const answer = await dns.texts(`_dmarc.${name}`, /dmarc/i);
    if (answer.kind === 'failed') return { steps, failed: answer.why };
    const texts = answer.kind === 'found' ? answer.records.map((one) => one.join('')) : [];
    const records = texts.filter(isDmarc);
    const [text] = records;
    const record = text !== undefined && records.length === 1 ? readDmarc(text) : null;
    steps.push({
      domain: name,
      record,
      several: records.length > 1 ? records : [],
      others: texts.filter((one) => !isDmarc(one)),
    });
    if (record && record.psd !== 'u') break;
  }
  return { steps, failed: null };
};

type StepWithRecord = Step & { record: DmarcRecord };

const withRecord = ({ steps }: TreeWalk): StepWithRecord[] =>
  steps.flatMap((step) => (step.record ? [{ ...step, record: step.record }] : []));

/** Returns the organizational domain that a walk determines (§4.10.2); null where no record does. */
export const organizationIn = (walk: TreeWalk): string | null => {
  const start = walk.steps[0]?.domain ?? '';
  const found = withRecord(walk);
  for (const { domain, record } of found) {
    if (record.psd === 'n') return domain;
    // One label below the public suffix.
    if (record.psd === 'y' && domain !== start)
      return start
        .split('.')
        .slice(-(domain.split('.').length + 1))
        .join('.');
  }
  return found.at(-1)?.domain ?? null;
};

/**
 * Returns the organizational domain of a domain: as the walk determines it, or what its owner registered, which is what
 * receivers without the walk use.
 */
export const findOrganization = async (dns: DnsQueries, domain: string): Promise<string> =>
  organizationIn(await walkTree(dns, domain)) ?? registeredOf(domain);

/** Returns the record that applies to a domain (§4.10.1): its own, its organization's, or a public suffix's. */
export const policyIn = (walk: TreeWalk): StepWithRecord | null => {
  const found = withRecord(walk);
  const start = walk.steps[0]?.domain;
  const organization = organizationIn(walk);
  return (
    found.find(({ domain }) => domain === start) ??
    found.find(({ domain }) => domain === organization) ??
    found.find(({ record }) => record.psd === 'y') ??
    null
  );
};
