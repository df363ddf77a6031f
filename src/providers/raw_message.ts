import * as base64 from 'nodemailer/lib/base64';
import { foldLines } from 'nodemailer/lib/mime-funcs';
import MimeNode from 'nodemailer/lib/mime-node';
import * as qp from 'nodemailer/lib/qp';

/** An address with a name, which may be empty. */
type Address = { name: string; address: string };
/** A value that goes out exactly as it is, folded or not. Trunkline neither encodes nor checks it. */
export type Prepared = { value: string; isFolded?: true };
export type Fields = Readonly<Record<string, string | Address | Prepared>>;

/** Encodes names, addresses and words for headers (RFC 2047, RFC 5322 §3.4). It is never sent itself. */
const words = new MimeNode();

/** RFC 2045 §6.7 and §6.8, and where `foldLines` folds a field. */
const ENCODED_LINE_CHARS = 76;

/** ASCII without quotes and blanks at its ends, and a plain address: the library returns both as they are. */
const PLAIN_TEXT = /^(?!.*(?:=\?|"))[!-~](?:[ -~]*[!-~])?$/;
const PLAIN_ADDRESS = /^[\w+-]+(?:\.[\w+-]+)*@[a-z\d-]+(?:\.[a-z\d-]+)+$/;

const encodeValue = (name: string, value: string | Address): string => {
  if (typeof value !== 'string' && value.name === '' && PLAIN_ADDRESS.test(value.address))
    return value.address;
  if (typeof value === 'string' && PLAIN_TEXT.test(value)) return value;
  return words.encodeHeaderValue(name, value);
};

/** One header field, folded where it may be (RFC 5322 §2.2.3). */
const toField = (name: string, value: Fields[string]): string => {
  if (typeof value === 'string' || 'address' in value)
    return foldLines(`${name}: ${encodeValue(name, value)}`);
  return value.isFolded ? foldLines(`${name}: ${value.value}`) : `${name}: ${value.value}`;
};

const PLAIN = /^[\t\r\n\x20-\x7e]*$/;
/** Where more than one byte of so many is outside of ASCII, base64 is shorter: it takes two more characters a byte. */
const BASE64_SHARE = 6;

/** One kind of line end: a CR or LF alone is a line to one relay and none to the next (RFC 5321 §2.3.8). */
const toLines = (text: string): string => text.replaceAll(/\r\n?|\n/g, '\r\n');

const hasLongLine = (lines: string): boolean =>
  lines.split('\r\n').some((line) => line.length > ENCODED_LINE_CHARS);

const isMostlyForeign = (bytes: Buffer): boolean => {
  let foreign = 0;
  for (const byte of bytes) if (byte > 0x7f) foreign += 1;
  return foreign * BASE64_SHARE > bytes.length;
};

/** A text in lines that every relay passes on as they are, and how it was made so. */
const encodeText = (text: string): { encoding: string; lines: string } => {
  const plain = toLines(text);
  if (PLAIN.test(plain) && !hasLongLine(plain)) return { encoding: '7bit', lines: plain };
  const bytes = Buffer.from(plain);
  return bytes.length > plain.length && isMostlyForeign(bytes)
    ? { encoding: 'base64', lines: base64.wrap(base64.encode(bytes), ENCODED_LINE_CHARS) }
    : { encoding: 'quoted-printable', lines: qp.wrap(qp.encode(bytes), ENCODED_LINE_CHARS) };
};

const toPart = (type: string, text: string): string => {
  const { encoding, lines } = encodeText(text);
  const fields = [`Content-Type: ${type}; charset=utf-8`, `Content-Transfer-Encoding: ${encoding}`];
  return `${fields.join('\r\n')}\r\n\r\n${lines}\r\n`;
};

/** A text and the same as HTML, for readers to choose from (RFC 2046 §5.1.4). */
const toAlternatives = (text: string, html: string): string => {
  // Random, and no encoded text holds "=_".
  const boundary = `=_${crypto.randomUUID()}`;
  return [
    `Content-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n\r\n`,
    `--${boundary}\r\n${toPart('text/plain', text)}`,
    `--${boundary}\r\n${toPart('text/html', html)}`,
    `--${boundary}--\r\n`,
  ].join('');
};

/** A message as it goes over the wire (RFC 5322). A field that says nothing is left out, and HTML that is null. */
export const toRaw = (
  fields: Fields,
  { text, html }: { text: string; html: string | null },
): Buffer => {
  const head = [
    ...Object.entries(fields).flatMap(([name, value]) =>
      value === '' ? [] : toField(name, value),
    ),
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    'MIME-Version: 1.0',
  ];
  const body = html === null ? toPart('text/plain', text) : toAlternatives(text, html);
  return Buffer.from(`${head.join('\r\n')}\r\n${body}`);
};
