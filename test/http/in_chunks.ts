// Events whose bodies come in chunks (RFC 9112 §7.1).
import { CHUNK_BYTES_MIN } from '../../src/base/bodies/bodies.ts';
import { ask, toWire } from './raw_http.ts';

/** A body of JSON in so many chunks of so many bytes each, and the last chunk. */
export const inChunks = (count: number, bytes: number): string => {
  const start = '{"event":"streamed","anonymous_id":"a","properties":{"x":"';
  const end = '"}}';
  const fill = 'x'.repeat(count * bytes - start.length - end.length);
  const json = start + fill + end;
  const chunks = Array.from({ length: count }, (_, at) => json.slice(at * bytes, (at + 1) * bytes));
  return `${chunks.map((chunk) => `${bytes.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`;
};

export const postChunks = (url: string, key: string | null, body: string) =>
  ask(
    url,
    toWire({
      method: 'POST',
      path: '/v1/events',
      headers: {
        'Content-Type': 'application/json',
        'Transfer-Encoding': 'chunked',
        Connection: 'close',
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
      },
    }) + body,
  );

/** How many chunks of one byte a body may have: so many, and one for each CHUNK_BYTES_MIN bytes. */
export const singleBytes = (chunksMax: number): number =>
  chunksMax + Math.floor(chunksMax / (CHUNK_BYTES_MIN - 1));
