import { getDomain } from 'tldts';
import { NOT_TOLD, readTexts } from './domain_names.ts';
import type { DomainReader, Finding } from './domain_names.ts';

const VERSION = /^v=DMARC1(?:\s*;|$)/;
const POLICIES = ['none', 'quarantine', 'reject'] as const;

/** The domain that mail counts as coming from: what its owner registered. */
export const organisationOf = (domain: string): string =>
  getDomain(domain, { allowPrivateDomains: true }) ?? domain;

/** The domain and its parents, down to what was registered (RFC 9989: the tree is walked). */
const namesOf = (domain: string): string[] => {
  const organisation = organisationOf(domain);
  const names = [domain];
  for (let name = domain; name !== organisation && name.includes('.');) {
    name = name.slice(name.indexOf('.') + 1);
    names.push(name);
  }
  return names;
};

const tagsOf = (record: string): Map<string, string> =>
  new Map(
    record.split(';').flatMap((tag): [string, string][] => {
      const at = tag.indexOf('=');
      return at < 0 ? [] : [[tag.slice(0, at).trim().toLowerCase(), tag.slice(at + 1).trim()]];
    }),
  );

const judge = (record: string): Pick<Finding, 'status' | 'summary'> => {
  const tags = tagsOf(record);
  const policy = tags.get('p')?.toLowerCase();
  if (policy !== undefined && !(POLICIES as readonly string[]).includes(policy))
    return { status: 'bad', summary: `p=${policy} is no policy: none, quarantine or reject.` };
  if (!tags.has('rua'))
    return { status: 'warning', summary: 'Nobody gets the reports: add rua=mailto:<an address>.' };
  if (policy === undefined || policy === 'none')
    return {
      status: 'good',
      summary:
        'Published with p=none, to begin with. Once the reports are clean: quarantine, then reject.',
    };
  return { status: 'good', summary: `Published with p=${policy}.` };
};

/** What to begin with, in the specification's shape. */
const recordOf = (organisation: string) =>
  ({
    name: `_dmarc.${organisation}`,
    type: 'TXT',
    value: `v=DMARC1; p=none; rua=mailto:dmarc@${organisation}; fo=1`,
  }) as const;

/** Looks for the DMARC record that applies to a domain (RFC 9989): its own, or its nearest parent's. */
export const checkDmarc = async (reader: DomainReader, domain: string): Promise<Finding> => {
  const publish = recordOf(organisationOf(domain));
  for (const name of namesOf(domain)) {
    const told = await readTexts(reader, `_dmarc.${name}`);
    if (told.kind === 'unknown') return NOT_TOLD;
    const found = told.kind === 'found' ? told.records.filter((text) => VERSION.test(text)) : [];
    const [record] = found;
    if (record === undefined) continue;
    if (found.length > 1)
      return {
        status: 'bad',
        summary: 'There are several DMARC records, so none applies. Keep one.',
        found,
        publish: null,
      };
    return { ...judge(record), found, publish: null };
  }
  return { status: 'bad', summary: 'There is no DMARC record.', found: [], publish };
};
