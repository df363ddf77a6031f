import { CALL_BYTES_MAX } from './options.ts';
import type { Properties, SentCall, Traits } from './errors.ts';

export type TrackOptions<P = Properties> = {
  /** The person by your own id. This or `anonymousId` is needed. */
  userId?: string | undefined;
  /** The device or session of somebody who is not known yet. */
  anonymousId?: string | undefined;
  properties?: P | undefined;
  /** When it happened; now if left out. */
  occurredAt?: Date | string | undefined;
  /** Your own id of this event: what has it is stored once, whoever sends it again. */
  messageId?: string | undefined;
};

export type IdentifyOptions = {
  userId: string;
  /** What this device or session did becomes part of the person. */
  anonymousId?: string | undefined;
  traits?: Traits | undefined;
  occurredAt?: Date | string | undefined;
  messageId?: string | undefined;
};

export type AliasOptions = { anonymousId: string; userId: string };

/** A call that waits: as it is sent, and what it is ordered by. */
export type Call = {
  kind: SentCall['kind'];
  /** Written when it was made: what is changed afterwards is not sent, and its size is known. */
  json: string;
  bytes: number;
  /** Whom it is about. Calls that share somebody come to the service in their order. */
  people: readonly string[];
};

const encoder = new TextEncoder();

const TIME_DIGITS = 12;

/** Random digits of a UUID. Node 18 has no Web Crypto by itself; ids need only be unlike. */
const randomUuid = (): string => {
  const { crypto } = globalThis as { crypto?: { randomUUID?: () => string } };
  const digit = (): string => Math.floor(Math.random() * 16).toString(16);
  return crypto?.randomUUID?.() ?? '00000000-0000-4000-8000-000000000000'.replace(/0/g, digit);
};

/**
 * A UUID of version 7: the time in front, so that the service finds ids of one time together, and 74 random
 * bits behind.
 */
const makeMessageId = (): string => {
  const time = Date.now().toString(16).padStart(TIME_DIGITS, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUuid().slice(15)}`;
};

/** An id where one is given. Whether it may name somebody is for the service to say. */
const readId = (name: string, value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value !== '') return value;
  throw new TypeError(`${name} must be a string that is not empty; leave it out if there is none`);
};

const needId = (name: string, value: unknown): string => {
  const id = readId(name, value);
  if (id === undefined) throw new TypeError(`${name} is needed`);
  return id;
};

const readTime = (value: unknown): string => {
  if (value === undefined) return new Date().toISOString();
  if (typeof value === 'string' && value !== '') return value;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  throw new TypeError('occurredAt must be a valid Date or an RFC 3339 timestamp');
};

const readObject = <T>(name: string, value: T | undefined): T | undefined => {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (value !== undefined && !isObject) throw new TypeError(`${name} must be an object`);
  return value;
};

/** JSON would turn these into null, or fail with the engine's words. */
const checkNumber = (key: string, value: unknown): unknown => {
  if (typeof value === 'bigint')
    throw new TypeError(`${key} is a BigInt: send it as a string or a number`);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`${key} is ${value}: numbers must be finite`);
  return value;
};

const readOptions = <T extends object>(method: string, options: unknown, names: string[]): T => {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`${method} needs an object with ${names.join(', ')}`);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`${method} knows no ${unknown}: there are ${names.join(', ')}`);
  return options as T;
};

/** Keeps what is given, as it is now. */
const toCall = (sent: SentCall): Call => {
  const json = JSON.stringify(sent.body, checkNumber);
  const bytes = encoder.encode(json).byteLength;
  if (bytes > CALL_BYTES_MAX)
    throw new TypeError(`a call has at most ${CALL_BYTES_MAX} bytes of JSON, this one ${bytes}`);
  const { external_id, anonymous_id } = sent.body as {
    external_id?: string;
    anonymous_id?: string;
  };
  const people = [
    ...(external_id === undefined ? [] : [`user ${external_id}`]),
    ...(anonymous_id === undefined ? [] : [`anonymous ${anonymous_id}`]),
  ];
  return { kind: sent.kind, json, bytes, people };
};

/** A call as people look at it. */
export const toSent = ({ kind, json }: Call): SentCall =>
  ({ kind, body: JSON.parse(json) as unknown }) as SentCall;

const withIds = (externalId: string | undefined, anonymousId: string | undefined) => ({
  ...(externalId === undefined ? {} : { external_id: externalId }),
  ...(anonymousId === undefined ? {} : { anonymous_id: anonymousId }),
});

const TRACK = ['userId', 'anonymousId', 'properties', 'occurredAt', 'messageId'];
const IDENTIFY = ['anonymousId', 'userId', 'traits', 'occurredAt', 'messageId'];
const ALIAS = ['anonymousId', 'userId'];

export const toTrack = (event: unknown, given: unknown): Call => {
  if (typeof event !== 'string' || event === '')
    throw new TypeError('track needs the name of an event, such as "user_signed_up"');
  const options = readOptions<TrackOptions>('track', given, TRACK);
  const userId = readId('userId', options.userId);
  const anonymousId = readId('anonymousId', options.anonymousId);
  if (userId === undefined && anonymousId === undefined)
    throw new TypeError('track needs userId or anonymousId: whose event is it?');
  const properties = readObject('properties', options.properties);
  const body = {
    event,
    ...withIds(userId, anonymousId),
    ...(properties === undefined ? {} : { properties }),
    occurred_at: readTime(options.occurredAt),
    message_id: readId('messageId', options.messageId) ?? makeMessageId(),
  };
  return toCall({ kind: 'track', body });
};

export const toIdentify = (given: unknown): Call => {
  const options = readOptions<IdentifyOptions>('identify', given, IDENTIFY);
  const anonymousId = readId('anonymousId', options.anonymousId);
  const traits = readObject('traits', options.traits);
  const body = {
    external_id: needId('userId', options.userId),
    ...(anonymousId === undefined ? {} : { anonymous_id: anonymousId }),
    ...(traits === undefined ? {} : { traits }),
    occurred_at: readTime(options.occurredAt),
    message_id: readId('messageId', options.messageId) ?? makeMessageId(),
  };
  return toCall({ kind: 'identify', body });
};

export const toAlias = (given: unknown): Call => {
  const options = readOptions<AliasOptions>('alias', given, ALIAS);
  const body = {
    anonymous_id: needId('anonymousId', options.anonymousId),
    external_id: needId('userId', options.userId),
  };
  return toCall({ kind: 'alias', body });
};
