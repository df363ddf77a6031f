import { readTags } from '../tags.ts';

/** What receivers are asked to do with email that fails. */
export const POLICIES = ['none', 'quarantine', 'reject'] as const;
export type Policy = (typeof POLICIES)[number];

/** A DMARC policy record (RFC 9989 §4.7), as receivers read it. */
export type DmarcRecord = {
  text: string;
  /** Null where the tag is missing, `invalid` where its value is no policy. */
  p: Policy | 'invalid' | null;
  sp: Policy | 'invalid' | null;
  np: Policy | 'invalid' | null;
  isTest: boolean;
  psd: 'y' | 'n' | 'u';
  isStrict: { dkim: boolean; spf: boolean };
  reports: Reports;
  failures: Reports;
  /** Tags that RFC 9989 has removed, with their values. */
  removed: [tag: string, value: string][];
};

/** Where reports go: addresses, and URIs that receivers ignore. */
export type Reports = { addresses: string[]; ignored: string[] };

const VERSION = /^v[ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/;
const REMOVED_TAGS = ['pct', 'rf', 'ri'];
/** The size after an exclamation mark is obsolete, and ignored (RFC 9989 §4.8). */
const MAILTO = /^mailto:([^\s@,!?]+@[^\s@,!?]+)(?:\?[^!]*)?(?:!\d+[kmgt]?)?$/i;

/** Whether a text is a policy record: the version comes first, in this spelling (RFC 9989 §4.7). */
export const isDmarc = (text: string): boolean => VERSION.test(text);

const readPolicy = (value: string | undefined): DmarcRecord['p'] => {
  if (value === undefined) return null;
  return POLICIES.find((policy) => policy === value.toLowerCase()) ?? 'invalid';
};

const readReports = (list = ''): Reports => {
  const uris = list.split(',').flatMap((uri) => (uri.trim() === '' ? [] : [uri.trim()]));
  return {
    addresses: uris.flatMap((uri) => {
      const address = MAILTO.exec(uri)?.[1];
      return address === undefined ? [] : [decode(address)];
    }),
    ignored: uris.filter((uri) => !MAILTO.test(uri)),
  };
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Reads a policy record. Unknown tags, and values that are none, count for nothing (RFC 9989 §4.8). */
export const readDmarc = (text: string): DmarcRecord => {
  const { values } = readTags(text);
  const psd = values.get('psd')?.toLowerCase();
  return {
    text,
    p: readPolicy(values.get('p')),
    sp: readPolicy(values.get('sp')),
    np: readPolicy(values.get('np')),
    isTest: values.get('t')?.toLowerCase() === 'y',
    psd: psd === 'y' || psd === 'n' ? psd : 'u',
    isStrict: {
      dkim: values.get('adkim')?.toLowerCase() === 's',
      spf: values.get('aspf')?.toLowerCase() === 's',
    },
    reports: readReports(values.get('rua')),
    failures: readReports(values.get('ruf')),
    removed: REMOVED_TAGS.flatMap((tag): [string, string][] => {
      const value = values.get(tag);
      return value === undefined ? [] : [[tag, value]];
    }),
  };
};

/** Whether a policy is missing or no policy, so that receivers act as for `none`, or not at all without reports. */
export const isWithoutPolicy = ({ p, sp, np }: DmarcRecord): boolean =>
  p === null || p === 'invalid' || sp === 'invalid' || np === 'invalid';

/** The policy one level below, which receivers apply in test mode. */
const LOWERED = {
  none: 'none',
  quarantine: 'none',
  reject: 'quarantine',
} as const satisfies Record<Policy, Policy>;

/** Which of a record's policies applies to a domain, and what receivers do (RFC 9989 §4.10.1). */
export const policyFor = (
  record: DmarcRecord,
  { isOwn, exists }: { isOwn: boolean; exists: boolean },
): { tag: 'p' | 'sp' | 'np'; policy: Policy; applied: Policy } => {
  const tags = isOwn
    ? (['p'] as const)
    : exists
      ? (['sp', 'p'] as const)
      : (['np', 'sp', 'p'] as const);
  const tag = tags.find((one) => record[one] !== null) ?? 'p';
  const stated = record[tag];
  const policy =
    isWithoutPolicy(record) || stated === null || stated === 'invalid' ? 'none' : stated;
  return { tag, policy, applied: record.isTest ? LOWERED[policy] : policy };
};
