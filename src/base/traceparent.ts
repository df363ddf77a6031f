import { takeRandom } from './random.ts';

/** W3C Trace Context: version, trace id, parent id, flags. All zeroes are no id, and ff is no version. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(-[!-~]*)?$/;
/** The one that we write. A later one may say more at its end, which is not ours to read. */
const VERSION = '00';
/** Sampled, and that the trace id is random. Whatever else is set means nothing yet, and is not passed on. */
const KNOWN_FLAGS = 0b11;
const TRACE_ID_BYTES = 16;
const PARENT_ID_BYTES = 8;
const NOT_SAMPLED = '00';

const write = (traceId: string, flags: string): string =>
  `${VERSION}-${traceId}-${takeRandom(PARENT_ID_BYTES).toString('hex')}-${flags}`;

/** The same trace with a parent id of our own; null of what is no traceparent. */
export const continueTrace = (given: string): string | null => {
  const [, version, traceId, flags = '', more] = TRACEPARENT.exec(given) ?? [];
  if (traceId === undefined || (version === VERSION && more !== undefined)) return null;
  const known = Number.parseInt(flags, 16) & KNOWN_FLAGS;
  return write(traceId, known.toString(16).padStart(2, '0'));
};

/** A trace that begins here. */
export const beginTrace = (): string =>
  write(takeRandom(TRACE_ID_BYTES).toString('hex'), NOT_SAMPLED);

/** By which a trace is found in logs. */
export const traceIdOf = (traceparent: string | null): string | undefined =>
  traceparent?.split('-')[1];

/** What a request says of its trace; nothing where there is none. */
export type TraceHeader = { traceparent?: string };

/** The header of a call out: the same trace, and a parent id of this call's own. */
export const traceHeader = (traceparent: string | null): TraceHeader => {
  const continued = traceparent === null ? null : continueTrace(traceparent);
  return continued === null ? {} : { traceparent: continued };
};
