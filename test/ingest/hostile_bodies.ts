import type { RefusalName } from '../../src/base/refusal.ts';
import { deep, LEVELS } from './hostile.ts';

/** What never becomes an event, at any door. */
export type HostileBody = {
  what: string;
  body: string | Uint8Array;
  refusal: RefusalName;
  contentType?: string | null;
  headers?: Record<string, string>;
};

const GOOD = '{"event":"bad","external_id":"bad"}';

export const hostileBodies: HostileBody[] = [
  ...['', '{', `${GOOD},`, '{"event":"bad\u0001"}', "{'event':'bad'}", '{"a":NaN}', '{"a":01}'].map(
    (body) => ({ what: `JSON: ${body}`, body, refusal: 'invalid_json' as const }),
  ),
  ...['null', '1', '"bad"', '[]', `[${GOOD}]`, deep('[', ']'), deep('{"a":', '}')].map((body) => ({
    what: `no object of ours: ${body.slice(0, 8)}`,
    body,
    refusal: 'invalid_request' as const,
  })),
  { what: 'levels that never end', body: '['.repeat(LEVELS), refusal: 'invalid_json' },
  { what: 'no UTF-8', body: Buffer.from([0x22, 0xff, 0xfe, 0x22]), refusal: 'invalid_json' },
  {
    what: 'an encoded surrogate',
    body: Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
    refusal: 'invalid_json',
  },
  { what: 'UTF-16', body: Buffer.from(`\ufeff${GOOD}`, 'utf16le'), refusal: 'invalid_json' },
  { what: 'too large', body: GOOD.padEnd(1024 * 1024 + 1), refusal: 'body_too_large' },
  { what: 'a form', body: GOOD, contentType: 'text/plain', refusal: 'unsupported_media_type' },
  { what: 'no type', body: GOOD, contentType: null, refusal: 'unsupported_media_type' },
  {
    what: 'compressed',
    body: GOOD,
    headers: { 'content-encoding': 'gzip' },
    refusal: 'unsupported_media_type',
  },
  {
    what: 'an Idempotency-Key with a blank',
    body: GOOD,
    headers: { 'idempotency-key': 'a b' },
    refusal: 'invalid_idempotency_key',
  },
];
