import { timingSafeEqual } from 'node:crypto';

/** Compares two texts in a time that does not depend on where they differ. */
export const isSameSecret = (own: string, sent: string): boolean => {
  const [a, b] = [Buffer.from(own), Buffer.from(sent)];
  return a.length === b.length && timingSafeEqual(a, b);
};
