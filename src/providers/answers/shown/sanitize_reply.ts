import { MASKS, maskAddresses } from '../text/mask.ts';
import { parseReply } from '../text/parse_reply.ts';
import { repair } from '../text/words.ts';
import { readQueueId } from './queue_id.ts';
import { removeSecrets } from './remove_secrets.ts';

export type ReplyToShow = {
  /** An SMTP reply, or the body of an HTTPS answer. */
  reply: string;
  /** The recipient, whose address may be shown; every other is masked. */
  to?: string;
  /** The credentials of the provider: passwords, keys, user names that are secret. */
  secrets?: readonly string[];
};

/** What of a reply its owner may see. */
export type ShownReply = {
  code: number | null;
  enhanced: string | null;
  /** One line, at most SHOWN_CHARS_MAX characters. */
  text: string;
  /** The relay's own id of the message, where it took it and named it. */
  queueId: string | null;
};

/** A reply is a sentence or two; some servers add pages of diagnostics. */
export const SHOWN_CHARS_MAX = 500;

const TAG_NAMES = [
  '!doctype|html|head|body|title|meta|link|p|br|hr|div|span|a|b|i|em|strong|h[1-6]',
  'table|tbody|tr|td|th|ul|ol|li|center|pre|code|font|img|form|input',
  'section|main|header|footer|nav',
].join('|');
const TAGS = new RegExp(`</?(?:${TAG_NAMES})(?:\\s[^<>]{0,1000})?/?>`, 'gi');
const SCRIPTS = /<(script|style)\b[^<>]{0,200}>[\s\S]{0,2000}?<\/\1>/gi;
const COMMENTS = /<!--[\s\S]{0,500}?-->/g;

const stripHtml = (text: string): string => (text.includes('<') ? replaceTags(text) : text);

const replaceTags = (text: string): string =>
  text.replace(SCRIPTS, ' ').replace(COMMENTS, ' ').replace(TAGS, ' ');

/** Control characters, and those that turn text around or hide in it. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/gu;

/** A text without what UNSEEN or a run of blanks could match; most replies are. */
const IS_PLAIN = /^[!-~]*(?: [!-~]+)* ?$/;

const toOneLine = (text: string): string =>
  IS_PLAIN.test(text) ? text.trimEnd() : replaceUnseen(text);

const replaceUnseen = (text: string): string =>
  text
    .replace(UNSEEN, ' ')
    .replace(/\s{2,9999}/g, ' ')
    .trim();

const bound = (text: string): string =>
  text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX - 1).trimEnd()}…`;

/** The recipient's own address stays as the server wrote it. */
const maskOthers = (text: string, to: string | undefined): string =>
  IS_WITHOUT_ADDRESS.test(text) ? text : replaceOthers(text, to);

/** Without an at sign, and without a variable such as `$(_toemail)`. */
const IS_WITHOUT_ADDRESS = /^[^@$]*$/;

const replaceOthers = (text: string, to: string | undefined): string =>
  maskAddresses(text, {}, (address) =>
    to !== undefined && address.toLowerCase() === to.toLowerCase() ? address : null,
  ).replaceAll(MASKS.address, '[address]');

/**
 * Reduces a reply to what its owner may see: codes, one bounded line without control characters,
 * HTML, secrets and addresses of others, and the relay's queue id of an acceptance. Pure; never
 * throws.
 */
export const sanitizeReply = ({ reply, to, secrets = [] }: ReplyToShow): ShownReply => {
  const { code, enhanced, lines } = parseReply(removeSecrets(stripHtml(repair(reply)), secrets));
  const text = toOneLine(maskOthers(lines.join(' '), to));
  const isTaken = code !== null && code >= 200 && code < 300;
  return {
    code,
    enhanced,
    text: bound(text),
    queueId: isTaken ? readQueueId(toOneLine(lines.at(-1) ?? '')) : null,
  };
};
