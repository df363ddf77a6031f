// What the bodies of requests may take: memory, and values of JSON.
import type { HeldBody } from './held.ts';

export { countValues, JSON_VALUES_MAX, ValueCounter } from './count_values.ts';
export {
  ADDRESS_BYTES_MAX,
  BODIES_BYTES_MAX,
  bodiesInHandOf,
  STRANGERS_BYTES_MAX,
} from './in_hand.ts';
export type { HeldBody } from './held.ts';
export type { BodySender } from './in_hand.ts';
export { SLOW_BODY_MS } from './arriving.ts';
export {
  BODY_STOPPED,
  CHUNK_BYTES_MIN,
  hasManySmallChunks,
  isBodyStopped,
  manySmallChunks,
  SMALL_CHUNKS_MAX,
  stopBody,
} from './small_chunks.ts';

/** What a byte of a body takes at most: itself, its text of two bytes a character, and a part of a value's text. */
const MEMORY_PER_BYTE = 4;
/** What a value takes at most once it is parsed, with the name of a member. Measured: 130 bytes. */
const MEMORY_PER_VALUE = 128;

/**
 * Counts the memory that a body takes once it is parsed, besides its bytes, which are counted already. Throws
 * `overloaded` or `rate_limited` where there is no room.
 */
export const holdParsed = (held: HeldBody, size: { bytes: number; values: number }): void =>
  held.add((MEMORY_PER_BYTE - 1) * size.bytes + MEMORY_PER_VALUE * size.values);
