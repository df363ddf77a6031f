import { z } from 'zod';
import { EMAIL_CHARS_MAX, readEmail } from '../../base/email_address.ts';
import { toStorable } from '../../base/text.ts';

/** Of what a provider writes this much is kept. */
export const REASON_CHARS_MAX = 1_000;
/** A name or an address that is longer is none. */
export const NAME_CHARS_MAX = 4_096;

/**
 * What cannot be stored is left out rather than the notice refused; empty is as good as missing.
 */
export const toText = (text: string): string | null => {
  const stored = toStorable(text);
  return stored.trim() === '' ? null : stored;
};

/**
 * A text of a provider's, whatever stands in its place: a number is read as it is written, the rest
 * is missing.
 */
export const readText = (value: unknown, charsMax = NAME_CHARS_MAX): string | null => {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || value.length > charsMax) return null;
  return toText(value);
};

export const first = <T>(...values: (T | null | undefined)[]): T | null =>
  values.find((value) => value != null) ?? null;

/** Returns the texts that are there. */
export const present = (...texts: (string | null)[]): string[] =>
  texts.filter((text) => text !== null);

/** What a provider says of the cause, in one text that is short enough to keep. */
export const readReason = (...values: unknown[]): string | null => {
  const told = values.find((value) => typeof value === 'string' && value.trim() !== '');
  return typeof told === 'string' ? (toText(told)?.slice(0, REASON_CHARS_MAX) ?? null) : null;
};

/** Returns what a provider says of the cause in several members, in one text. */
export const joinReasons = (...values: unknown[]): string | null =>
  readReason(
    present(
      ...values.map((value) => (typeof value === 'number' ? String(value) : readReason(value))),
    ).join('; '),
  );

/** `Name <a@b>` is tolerated. */
export const readRecipient = (value: unknown): string | null => {
  if (typeof value !== 'string' || value.length > NAME_CHARS_MAX) return null;
  const [, inBrackets] = /<([^<>]{1,320})>\s*$/.exec(value) ?? [];
  const candidate = inBrackets ?? value;
  return candidate.length > EMAIL_CHARS_MAX ? null : readEmail(candidate);
};

/** Seconds since 1970 reach this in the year 5138; anything larger is milliseconds. */
const EPOCH_SECONDS_MAX = 100_000_000_000;

/** `2018-10-08T14:05:45 +0000`, as one provider writes it. */
const toIso = (text: string): string =>
  text.trim().replace(/^(\S{1,40}) ([+-]\d{2}):?(\d{2})$/, '$1$2:$3');

/** Returns the time by the provider's clock; without a readable one, the time of receipt. */
export const readTime = (value: string | number | null, receivedAt: Date): Date => {
  if (value === null) return receivedAt;
  const number = Number(value);
  const time = Number.isNaN(number)
    ? new Date(toIso(String(value)))
    : new Date(number < EPOCH_SECONDS_MAX ? number * 1_000 : number);
  // A provider's clock may be ahead of ours, its events are not.
  return time.getTime() >= 0 && time <= receivedAt ? time : receivedAt;
};

/** The id of a send of ours, or null for what is none. */
export const readSendId = (...values: unknown[]): string | null =>
  values.map((value) => z.uuid().safeParse(value)).find(({ success }) => success)?.data ?? null;

/**
 * An object of a body, whatever stands in its place: members that are not its own are not there.
 */
export const readObject = (value: unknown): Record<string, unknown> => {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return Object.assign(Object.create(null), isObject ? value : {}) as Record<string, unknown>;
};

export const readList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export type Fields = Record<string, unknown>;

const SEND_ID_IN_TEXT =
  /send_id["']?\s{0,5}[:=]\s{0,5}["']?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/i;
const isSendIdName = (name: string): boolean => /^send[-_]?id$/i.test(name);

/**
 * Returns our send id out of a vendor's metadata: an object, JSON as text, or `send_id:<id>|…`.
 * Vendors change the case of names, and hyphens.
 */
export const readSendIdIn = (...metadata: unknown[]): string | null => {
  for (const one of metadata) {
    const found =
      typeof one === 'string'
        ? readSendId(SEND_ID_IN_TEXT.exec(one.slice(0, NAME_CHARS_MAX))?.[1])
        : readSendId(
            ...Object.entries(readObject(one))
              .filter(([name]) => isSendIdName(name))
              .map(([, value]) => value),
          );
    if (found !== null) return found;
  }
  return null;
};

/** How many headers of an email are searched for our send id. */
const HEADERS_MAX = 100;

/** Returns our send id out of a list of `{ name, value }` headers. */
export const readSendIdOfHeaders = (headers: unknown): string | null => {
  const ours = readList(headers)
    .slice(0, HEADERS_MAX)
    .map(readObject)
    .find(({ name }) => readText(name)?.toLowerCase() === 'x-trunkline-send-id');
  return readSendId(ours?.['value']);
};
