import { readSendId } from '../dialects/reading.ts';
import { fieldOf, readBlocks } from './fields.ts';
import type { Fields } from './fields.ts';
import type { Parts } from './parts.ts';
import type { Report } from './report.ts';

/** Types of parts that return the email, or its headers. */
const RETURNED =
  /^(?:message\/(?:rfc822|global|rfc822-headers?|global-headers?)|text\/rfc822(?:-headers?)?)$/;

/** Lines before a copy of the email in a report that is plain text. */
const SEPARATORS = new RegExp(
  [
    '-{2,8} ?(?:this is a copy of|below this line is a copy of|the header of the original message)',
    '-{2,8} ?(?:original message|message header|returned message|forwarded message|unsent message)',
    '-{2,8} ?(?:this is the (?:original|full|header)|included is a copy|copy of the message)',
    '(?:below|following) is a copy of the original message|original message (?:follows|headers?:)',
    '(?:the )?(?:text|headers?) of (?:the|your) (?:original )?(?:message|e-?mail)',
    'your (?:original )?message (?:follows|was):|original message:',
    '(?:included|below|attached) is a copy of the message',
  ].join('|'),
  'i',
);

/** Splits the text of a report where the copy of the email begins. */
export const splitText = (text: string): { explanation: string; copy: string } => {
  const found = SEPARATORS.exec(text);
  return found
    ? { explanation: text.slice(0, found.index), copy: text.slice(found.index) }
    : { explanation: text, copy: '' };
};

const BLOCKS_MAX = 4;

/** Fields of nearly every header. */
const OF_ANY_HEADER = ['message-id', 'received'];
/** Fields that name the email by themselves, where a server returns little of its header. */
const NAMING = ['x-trunkline-send-id', 'return-path', 'x-envelope-from', 'x-original-return-path'];

/** Returns the header of the returned email: of a copy in plain text the first block that has fields. */
export const returnedFields = ({ parts }: Parts, copy: string): Fields => {
  const part = parts.find(({ type }) => RETURNED.test(type));
  const blocks = readBlocks((part?.content ?? copy).trimStart(), BLOCKS_MAX);
  const findWith = (names: readonly string[]) =>
    blocks.find((fields) => names.some((name) => fields.has(name)));
  return findWith(OF_ANY_HEADER) ?? findWith(NAMING) ?? new Map();
};

/** Headers in which the envelope sender of the email may stand: the recipient of the report. */
const OF_REPORT = [
  'to',
  'delivered-to',
  'x-delivered-to',
  'x-original-to',
  'envelope-to',
  'x-envelope-to',
  'x-rcpt-to',
  'received',
];
const OF_EMAIL = ['return-path', 'x-envelope-from', 'x-original-return-path', 'received'];
const ENVELOPE_CHARS_MAX = 20_000;

const ID_IN_BRACKETS = /<[^<>\s]{1,250}>/g;
const IDS_MAX = 10;

const idsIn = (value: string): string[] => value.match(ID_IN_BRACKETS) ?? [];

/** Returns what a report says about which email it is: the ids that it returns, and its envelope sender. */
export const readReturned = (
  email: Parts,
  copy: string,
  envelopes: readonly (string | null)[] = [],
): Pick<Report, 'sendId' | 'messageIds' | 'envelope'> => {
  const fields = returnedFields(email, copy);
  const messageId = fieldOf(fields, 'message-id');
  const named = ['in-reply-to', 'references'].flatMap((name) => email.headers.get(name) ?? []);
  const ids = [...(messageId === null ? [] : [messageId]), ...named.flatMap(idsIn)];
  return {
    sendId: readSendId(fieldOf(fields, 'x-trunkline-send-id')),
    messageIds: [...new Set(ids.filter((id) => id.length <= 300))].slice(0, IDS_MAX),
    envelope: [
      ...envelopes,
      ...OF_REPORT.flatMap((name) => email.headers.get(name) ?? []),
      ...OF_EMAIL.flatMap((name) => fields.get(name) ?? []),
    ]
      .join('\n')
      .slice(0, ENVELOPE_CHARS_MAX),
  };
};
