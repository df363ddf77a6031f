import { createPublicKey } from 'node:crypto';
import type { Problem } from '../findings.ts';
import { readTags } from '../tags.ts';

/** RFC 8301 §3.2: shorter RSA keys are no keys, 2048 bits are wanted, and 4096 is what every receiver reads. */
export const KEY_BITS_MIN = 1024;
const KEY_BITS_WANTED = 2048;
const KEY_BITS_MAX = 4096;
/** The length of a public key of Ed25519 (RFC 8463 §4). */
const ED25519_BYTES = 32;

const BASE64 = /^(?:[a-z\d+/]{4})*(?:[a-z\d+/]{2}==|[a-z\d+/]{3}=)?$/i;

const bad = (code: string, text: string): Problem => ({ status: 'bad', code, text });
const warning = (code: string, text: string): Problem => ({ status: 'warning', code, text });

const COPY = 'Copy the record again from the email provider.';

/** The size of an RSA key in bits; null where the bytes are no such key. */
const readBits = (key: Buffer): number | null => {
  try {
    const parsed = createPublicKey({ key, format: 'der', type: 'spki' });
    return parsed.asymmetricKeyType === 'rsa'
      ? (parsed.asymmetricKeyDetails?.modulusLength ?? null)
      : null;
  } catch {
    return null;
  }
};

const judgeRsa = (key: Buffer): Problem[] => {
  const bits = readBits(key);
  if (bits === null) return [bad('dkim_key_unreadable', `The key cannot be read. ${COPY}`)];
  if (bits < KEY_BITS_MIN)
    return [
      bad(
        'dkim_key_short',
        `The key has ${bits} bits. Receivers refuse keys below ${KEY_BITS_MIN}.`,
      ),
    ];
  if (bits < KEY_BITS_WANTED)
    return [
      warning(
        'dkim_key_weak',
        `The key has ${bits} bits. Have the email provider issue one of ${KEY_BITS_WANTED} bits.`,
      ),
    ];
  return bits > KEY_BITS_MAX
    ? [
        warning(
          'dkim_key_long',
          `The key has ${bits} bits. Some receivers read ${KEY_BITS_MAX} at most.`,
        ),
      ]
    : [];
};

const judgeEd25519 = (key: Buffer): Problem[] => [
  key.length === ED25519_BYTES
    ? warning(
        'dkim_ed25519',
        'Many receivers do not verify Ed25519 signatures. Sign with an RSA key, too.',
      )
    : bad('dkim_key_unreadable', `The key cannot be read. ${COPY}`),
];

/** Whether a list of a tag, separated by colons, has one of some values. A tag that is missing allows all. */
const allows = (list: string | undefined, values: readonly string[]): boolean =>
  list === undefined || list.split(':').some((one) => values.includes(one.trim().toLowerCase()));

/** Lists what is wrong with the record of a key (RFC 6376 §3.6.1, 8301, 8463), what counts most first. */
export const judgeKey = (record: string): Problem[] => {
  const { values, repeated } = readTags(record);
  if (repeated.length > 0)
    return [bad('dkim_syntax', `The tag "${repeated[0]}" stands twice in the record. ${COPY}`)];
  const version = values.get('v');
  if (version !== undefined && (version !== 'DKIM1' || !/^\s*v\s*=/i.test(record)))
    return [bad('dkim_version', 'Receivers ignore the record. It has to begin with "v=DKIM1".')];
  const text = values.get('p')?.replaceAll(/\s/g, '');
  if (text === undefined) return [bad('dkim_no_key', `The record has no key (p=). ${COPY}`)];
  if (text === '')
    return [bad('dkim_revoked', 'The key is revoked: "p=" is empty. Publish a new key.')];
  if (!allows(values.get('h'), ['sha256']))
    return [bad('dkim_hash', `"h=${values.get('h')}" does not allow SHA-256. ${COPY}`)];
  if (!allows(values.get('s'), ['*', 'email']))
    return [bad('dkim_service', `"s=${values.get('s')}" does not allow email. ${COPY}`)];
  const kind = (values.get('k') ?? 'rsa').toLowerCase();
  if (kind !== 'rsa' && kind !== 'ed25519')
    return [bad('dkim_key_type', `"k=${values.get('k')}" is no type of key that receivers know.`)];
  if (!BASE64.test(text))
    return [bad('dkim_key_unreadable', `The key is no valid base64. ${COPY}`)];
  const key = Buffer.from(text, 'base64');
  return [
    ...(kind === 'rsa' ? judgeRsa(key) : judgeEd25519(key)),
    ...(allows(values.get('t') ?? '', ['y'])
      ? [
          warning(
            'dkim_testing',
            'The key is marked as a test (t=y), so some receivers ignore its signatures. Remove "t=y".',
          ),
        ]
      : []),
  ];
};

/** What is said of a key without a problem. */
export const describeKey = (record: string): string => {
  const text = readTags(record).values.get('p')?.replaceAll(/\s/g, '') ?? '';
  const bits = readBits(Buffer.from(text, 'base64'));
  return bits === null ? 'The key is published.' : `The key is published and has ${bits} bits.`;
};
