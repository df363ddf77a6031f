import { EMAIL_BYTES_MAX, EMAIL_LINES_MAX, PARTS_MAX } from './limits.ts';

const BOUNDARY = /boundary\s{0,9}=\s{0,9}(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/gi;
const LINE_FEED = 10;
const DASH = 45;

const boundariesOf = (text: string): Set<string> =>
  new Set([...text.matchAll(BOUNDARY)].map(([, quoted, bare]) => quoted ?? bare ?? ''));

/**
 * Returns the start of an email, up to so many bytes, lines and parts. The time that a reader takes grows with each of
 * them, and anyone can write to the address of a mailbox.
 */
export const boundEmail = (raw: Buffer): Buffer => {
  const bytes = raw.subarray(0, EMAIL_BYTES_MAX);
  const boundaries = boundariesOf(bytes.toString('latin1'));
  let parts = 0;
  let from = 0;
  for (let lines = 0; from < bytes.length; lines += 1) {
    if (lines === EMAIL_LINES_MAX) return bytes.subarray(0, from);
    const end = bytes.indexOf(LINE_FEED, from);
    const next = end < 0 ? bytes.length : end + 1;
    if (bytes[from] === DASH && bytes[from + 1] === DASH) {
      const name = bytes.toString('latin1', from + 2, next).trimEnd();
      if (boundaries.has(name)) parts += 1;
      if (parts > PARTS_MAX) return bytes.subarray(0, from);
    }
    from = next;
  }
  return bytes;
};
