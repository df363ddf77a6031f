import { createHash } from 'node:crypto';
import type { Notice } from '../notice.ts';

/** Returns a dedupe key for a feedback event that brings no id of its own. */
export const hashOf = (parts: readonly (string | null)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

type Identity = {
  /** The vendor's id of the event. */
  id: string | null;
  /** When it happened, as the vendor writes it. */
  time: string | null;
  /** Which email it is about, as the vendor writes it. */
  message: string | null;
  /** What happened and the recipient: a vendor may give one id to several events of one email. */
  what: readonly (string | null)[];
};

/**
 * Returns what tells an event from others of its source: its id where it has one, else its email
 * and its time. An event with neither id nor time is one event only as long as the window for such
 * events lasts (`keep.ts`).
 */
export const identify = ({
  id,
  time,
  message,
  what,
}: Identity): Pick<Notice, 'dedupeKey' | 'isUndated'> =>
  id === null
    ? { dedupeKey: hashOf([...what, message, time]), ...(time === null ? { isUndated: true } : {}) }
    : { dedupeKey: hashOf([...what, 'id', id]) };
