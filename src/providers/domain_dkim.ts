import { createPublicKey } from 'node:crypto';
import { NOT_TOLD, readAliases, readTexts } from './domain_names.ts';
import type { DomainReader, Finding } from './domain_names.ts';

/** RFC 8301: shorter RSA keys are refused, and 2048 bits are what receivers expect. */
const KEY_BITS_MIN = 1024;
const KEY_BITS_WANTED = 2048;

export type Dkim = Finding & { selector: string };

const rsaBits = (base64: string): number | null => {
  try {
    const key = Buffer.from(base64, 'base64');
    return (
      createPublicKey({ key, format: 'der', type: 'spki' }).asymmetricKeyDetails?.modulusLength ??
      null
    );
  } catch {
    return null;
  }
};

const tagOf = (record: string, tag: string): string | null =>
  new RegExp(`(?:^|;)\\s*${tag}\\s*=([^;]*)`).exec(record)?.[1]?.replaceAll(/\s/g, '') ?? null;

const judge = (record: string): Pick<Finding, 'status' | 'summary'> => {
  const key = tagOf(record, 'p');
  if (key === null) return { status: 'bad', summary: 'The record holds no key (p=).' };
  if (key === '') return { status: 'bad', summary: 'The key was revoked: p= is empty.' };
  if ((tagOf(record, 'k') ?? 'rsa') !== 'rsa')
    return { status: 'good', summary: 'The key is published.' };
  const bits = rsaBits(key);
  if (bits === null) return { status: 'bad', summary: 'The key cannot be read: copy it again.' };
  if (bits < KEY_BITS_MIN)
    return { status: 'bad', summary: `The key has ${bits} bits; receivers refuse it.` };
  if (bits < KEY_BITS_WANTED)
    return { status: 'warning', summary: `The key has ${bits} bits; ${KEY_BITS_WANTED} are safe.` };
  return { status: 'good', summary: `The key is published, ${bits} bits.` };
};

/** Looks at the key of one selector (RFC 6376): the record itself, or what it points to. */
export const checkDkim = async (
  reader: DomainReader,
  domain: string,
  selector: string,
): Promise<Dkim> => {
  const name = `${selector}._domainkey.${domain}`;
  const [texts, aliases] = [await readTexts(reader, name), await readAliases(reader, name)];
  if (texts.kind === 'unknown') return { ...NOT_TOLD, selector };
  const pointsTo = aliases.kind === 'found' ? aliases.records : [];
  const found = [
    ...pointsTo.map((target) => `CNAME ${target}`),
    ...(texts.kind === 'found' ? texts.records : []),
  ];
  const [record] = texts.kind === 'found' ? texts.records : [];
  const publish = null;
  if (record !== undefined) return { selector, ...judge(record), found, publish };
  const summary =
    pointsTo.length > 0
      ? `${name} points to ${pointsTo[0]}, where there is no key. Copy it again from the provider.`
      : `There is no record at ${name}. Copy it exactly from the provider.`;
  return { selector, status: 'bad', summary, found, publish };
};
