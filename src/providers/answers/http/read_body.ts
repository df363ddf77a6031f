import { STATUS_CODES } from 'node:http';

/** What an HTTPS answer says: its texts, the fields that they concern, and its error codes. */
export type BodyReading = {
  /** Every message, with the field that it is about before it (`from: …`). */
  text: string;
  /** Codes and names of errors, in lower case. */
  codes: string[];
};

const CHARS_MAX = 8_000;
const DEPTH_MAX = 6;
const VALUES_MAX = 200;

const oneOf = (...names: string[]): RegExp => new RegExp(`^(?:${names.join('|')})$`, 'i');

const MESSAGE_KEY = oneOf(
  'message|msg|error|errors|detail|details|description|reason|title|explanation|response|failures',
  'error_?message|error_?info|error_description|help_?message|status_?text',
);
const CODE_KEY = oneOf(
  'code|name|type|error|status|__type|errorid',
  'error_?code|error_?identifier|error_?name|error_type',
);
const FIELD_KEY = oneOf(
  'field|fieldname|param|parameter|property|errorrelatedto|path|loc|source|target|pointer',
  'argument|argument_?name|attribute',
);

/** What was sent back or taken is not what was refused. */
const ECHO_KEY = oneOf(
  'to|cc|bcc|email|messageuuid|messageid|messagehref',
  'id|email_?id|request_?id|help|documentation|more_?info',
);

/** `strings` are all of the body, whatever their names say. */
type Found = { texts: string[]; strings: string[]; codes: string[]; left: number };

/** `personalizations.0.to.0.email` in words: `personalizations to email`. */
const toWords = (path: string): string => path.replace(/[^a-z_]{1,200}/gi, ' ').trim();

const PATH =
  /\b(?:from|to|[cb]cc|sender|recipients?|reply_to)(?:[.[\]]{1,2}(?:\d{1,4}|email|address)){1,4}\b/gi;

const spell = (text: string): string => text.replace(PATH, toWords);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fieldOf = (value: Record<string, unknown>): string => {
  const [found] = Object.entries(value).filter(([key]) => FIELD_KEY.test(key));
  const parts = [found?.[1]].flat().filter((part) => typeof part === 'string');
  return toWords(parts.join(' ').slice(0, 200));
};

const addScalar = (found: Found, key: string, value: string | number): void => {
  if (CODE_KEY.test(key) && String(value).length <= 120)
    found.codes.push(String(value).toLowerCase());
  if (typeof value !== 'string') return;
  found.strings.push(value);
  if (MESSAGE_KEY.test(key) || key === '') found.texts.push(value);
};

const visit = (found: Found, value: unknown, key: string, depth: number): void => {
  if (depth > DEPTH_MAX || found.left-- <= 0 || ECHO_KEY.test(key)) return;
  if (typeof value === 'string' || typeof value === 'number') addScalar(found, key, value);
  else if (Array.isArray(value)) for (const each of value) visit(found, each, key, depth + 1);
  else if (isObject(value)) visitObject(found, value, key, depth);
};

const visitObject = (
  found: Found,
  value: Record<string, unknown>,
  key: string,
  depth: number,
): void => {
  const field = fieldOf(value);
  const before = found.texts.length;
  for (const [name, each] of Object.entries(value)) {
    // A map from fields to their errors: `{ "errors": { "from.email": ["…"] } }`.
    const isField = MESSAGE_KEY.test(key) && Array.isArray(each) && !MESSAGE_KEY.test(name);
    if (!isField) visit(found, each, name, depth + 1);
    else
      for (const one of each)
        if (typeof one === 'string') found.texts.push(`${toWords(name)}: ${one.slice(0, 500)}`);
        else visit(found, one, key, depth + 1);
  }
  if (field !== '' && found.texts.length > before)
    found.texts[before] = `${field}: ${found.texts[before]}`;
};

const STATUS_PHRASES = new Set(Object.values(STATUS_CODES).map((each) => each?.toLowerCase()));

/** Whether a text repeats the phrase of a status, such as `Bad Request`. */
const saysNothing = (text: string): boolean => STATUS_PHRASES.has(text.trim().toLowerCase());

const XML_CODE = /<code>([^<]{1,120})<\/code>/gi;
const XML_MESSAGE = /<message>([^<]{1,2000})<\/message>/gi;

const stripTags = (text: string): string =>
  text
    .replace(/<(?:style|script)[^>]{0,200}>[^<]{0,4000}<\/(?:style|script)>/gi, ' ')
    .replace(/<[^<>]{1,500}>/g, ' ');

const readXml = (body: string): BodyReading => {
  const codes = [...body.matchAll(XML_CODE)].map(([, code = '']) => code.trim().toLowerCase());
  const texts = [...body.matchAll(XML_MESSAGE)].map(([, text = '']) => text.trim());
  return { codes, text: texts.length > 0 ? texts.join('. ') : stripTags(body) };
};

const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
};

/**
 * Reads a body as JSON, XML, HTML or text, whichever it is. Never throws; an empty body says
 * nothing.
 */
export const readBody = (body: string): BodyReading => {
  const bounded = body.length > 1_000_000 ? '' : body.trim();
  const json = /^[[{"]/.test(bounded) ? parseJson(bounded) : undefined;
  if (json !== undefined) {
    const found: Found = { texts: [], strings: [], codes: [], left: VALUES_MAX };
    visit(found, json, '', 0);
    // The names of some bodies say nothing, such as `{"erreur": "…"}`.
    const texts = found.texts.every(saysNothing) ? found.strings : found.texts;
    return { codes: found.codes, text: spell(texts.join('. ').slice(0, CHARS_MAX)) };
  }
  const head = bounded.slice(0, CHARS_MAX);
  return head.startsWith('<') ? readXml(head) : { codes: [], text: head };
};
