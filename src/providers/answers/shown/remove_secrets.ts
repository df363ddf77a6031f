/** What stands where a secret was. */
export const REMOVED = '[removed]';

/** Shorter values would take ordinary words out of the text; no provider gives such secrets. */
export const SECRET_CHARS_MIN = 4;

/** Commands and headers with credentials, as servers and client libraries quote them. */
const AUTH_BLOBS: readonly RegExp[] = [
  /\bauth (?:plain|login|xoauth2|cram-md5)\s{1,4}[a-z0-9+/=]{4,4000}/gi,
  /\b(?:bearer|basic)\s{1,4}[\w.~+/=-]{6,4000}/gi,
  /\b(?:api[_-]?key|access[_-]?key|secret|token|password|passwd|pwd)["']?\s{0,4}[=:]\s{0,4}["']?[^\s"',;&}]{4,500}/gi,
];

/** Keys by the form that their vendors give them. */
const KEYS: readonly RegExp[] = [
  /\bSG\.[\w-]{10,100}(?:\.[\w-]{10,100})?/g,
  /\b(?:key|api|pubkey)-[0-9a-zA-Z]{24,64}\b/g,
  /\bre_[0-9a-zA-Z]{6,20}_[0-9a-zA-Z]{10,60}/g,
  /\bxkeysib-[\w-]{20,120}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bmlsn\.[0-9a-f]{20,120}/g,
  /\bmd-[\w-]{20,60}/g,
  /\beyJ[\w-]{10,4000}\.[\w-]{10,4000}\.[\w-]{0,4000}/g,
];

/** What every one of these forms has; a text without it needs no second look. */
const MAY_HOLD_KEY =
  /auth |bearer|basic|key|secret|token|pass|pwd|SG\.|api-|re_|AKIA|ASIA|mlsn|md-|eyJ/i;

const BASE64 = /[a-z0-9+/]{6,4000}={0,2}/gi;

type Known = {
  secrets: readonly string[];
  /** Each secret as it is, URL-encoded, and as JSON writes it. */
  spellings: readonly string[];
  /** The length of the shortest base64 word that could hold one. */
  wordCharsMin: number;
};

/** Per list of secrets: a connection has one list for all its replies. */
const knownOf = new WeakMap<readonly string[], Known>();

const readSecrets = (given: readonly string[]): Known => {
  const secrets = given.filter((secret) => secret.length >= SECRET_CHARS_MIN);
  const spellings = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ]);
  const wordCharsMin = Math.min(...secrets.map((secret) => Math.floor((secret.length * 4) / 3)));
  return { secrets, spellings: [...new Set(spellings)], wordCharsMin };
};

const toKnown = (given: readonly string[]): Known => {
  const known = knownOf.get(given) ?? readSecrets(given);
  knownOf.set(given, known);
  return known;
};

const holds = (text: string, secrets: readonly string[]): boolean =>
  secrets.some((secret) => text.includes(secret));

/**
 * Removes secrets as they are, URL-encoded or inside a base64 word, and everything that looks like
 * one. The list of secrets must not change afterwards.
 */
export const removeSecrets = (text: string, given: readonly string[]): string => {
  const { secrets, spellings, wordCharsMin } = toKnown(given);
  const plain = spellings.reduce((left, secret) => left.replaceAll(secret, REMOVED), text);
  const decoded = plain.replace(BASE64, (word) =>
    word.length >= wordCharsMin && holds(Buffer.from(word, 'base64').toString('utf8'), secrets)
      ? REMOVED
      : word,
  );
  if (!MAY_HOLD_KEY.test(decoded)) return decoded;
  return [...AUTH_BLOBS, ...KEYS].reduce((left, form) => left.replace(form, REMOVED), decoded);
};
