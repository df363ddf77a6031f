import type { Scope } from '../base/db.ts';
import type { SentTo } from '../delivery/delivery.ts';
import * as suppression from '../suppression/suppression.ts';
import type { ReadNotice } from './dialects/dialect.ts';
import type { Notice } from './notice.ts';
import { insertNotices, listKnown, readWindow } from './queries.ts';
import type { NoticeRow } from './queries.ts';
import { findSends } from './sends.ts';

/**
 * How long an event without id and time is the same event, in minutes. Vendors that send neither repeat a post within
 * minutes; a second complaint that comes after a lift counts.
 */
export const UNDATED_MINUTES = 10;

/**
 * Returns what an event is known by: its provider's own id may name the person, so a keyed hash of it is stored,
 * which also outlives them.
 */
const hashKey = ({ keys, projectId }: Scope, source: string, dedupeKey: string): string =>
  keys.hash('notice-dedupe', `${projectId} ${source} ${dedupeKey}`).toString('base64url');

/** An event with the key that it gets, and the keys under which it may be stored already. */
type Keyed<N> = { notice: N; key: string; known: readonly string[] };

/**
 * Returns the keys of events. Time is cut into windows for those without id and time, and each window has a key of
 * its own. The same event may stand in this window or in a neighboring one, where its age decides.
 */
const keyNotices = async <N extends Keyable>(
  scope: Scope,
  source: string,
  notices: readonly N[],
): Promise<Keyed<N>[]> => {
  const hash = (key: string) => hashKey(scope, source, key);
  const isAny = notices.some(({ isUndated }) => isUndated === true);
  const window = isAny ? await readWindow(scope, UNDATED_MINUTES) : 0;
  return notices.map((notice) => {
    if (notice.isUndated !== true) {
      const key = hash(notice.dedupeKey);
      return { notice, key, known: [key] };
    }
    const [before, now, after] = [-1, 0, 1].map((step) =>
      hash(`${notice.dedupeKey} ${window + step}`),
    ) as [string, string, string];
    return { notice, key: now, known: [before, now, after] };
  });
};

type Keyable = Pick<Notice, 'dedupeKey' | 'isUndated'>;

/** A notice that is new, and its row. */
export type Told = { notice: Notice; send: SentTo | null; row: NoticeRow };

/** Returns the notices that are not stored yet, each once, by their keys. */
const listNew = async <N extends Keyable>(
  scope: Scope,
  source: string,
  notices: readonly N[],
): Promise<Map<string, N>> => {
  const keyed = await keyNotices(scope, source, notices);
  const dated = keyed.filter(({ notice }) => notice.isUndated !== true);
  const undated = keyed.filter(({ notice }) => notice.isUndated === true);
  const keysOf = (those: readonly Keyed<N>[]) => [...new Set(those.flatMap(({ known }) => known))];
  const rows = [
    ...(await listKnown(scope, source, keysOf(dated))),
    ...(undated.length === 0
      ? []
      : await listKnown(scope, source, keysOf(undated), UNDATED_MINUTES)),
  ];
  const stored = new Set(rows.map(({ dedupe_key }) => dedupe_key));
  const byKey = new Map<string, N>();
  for (const { notice, key, known } of keyed)
    if (!byKey.has(key) && !known.some((one) => stored.has(one))) byKey.set(key, notice);
  return byKey;
};

/** Stores notices about messages that are not this project's: without address and text, and without an effect. */
export const keepForeign = async (
  scope: Scope,
  source: string,
  notices: readonly ReadNotice[],
): Promise<{ duplicates: number; ignored: number }> => {
  if (notices.length === 0) return { duplicates: 0, ignored: 0 };
  const nothing = { source, addressKey: null, sendId: null, reason: null, isForeign: true };
  const byKey = await listNew(scope, source, notices);
  const rows = [...byKey].map(([dedupeKey, notice]) => ({ ...notice, dedupeKey, ...nothing }));
  const { length: ignored } = await insertNotices(scope, rows);
  return { duplicates: notices.length - ignored, ignored };
};

/** Stores the notices that are new, each once, and returns them. */
export const keepNew = async (scope: Scope, source: string, notices: readonly Notice[]) => {
  const byKey = await listNew(scope, source, notices);
  if (byKey.size === 0) return [];

  const unknown = [...byKey.values()];
  const sends = await findSends(scope, unknown);
  const keys = unknown.map(({ email }) => suppression.addressKey(scope, email));
  const erased = new Set(
    (await suppression.listErased(scope, keys)).map(({ address_key }) =>
      address_key.toString('hex'),
    ),
  );
  const told = [...byKey].map(([dedupeKey, notice], nth): Told => {
    const addressKey = keys[nth] ?? null;
    const isErased = erased.has(addressKey?.toString('hex') ?? '');
    const kept = isErased
      ? { ...notice, addressKey: null, reason: null }
      : { ...notice, addressKey };
    const send = sends[nth] ?? null;
    const row = { ...kept, dedupeKey, source, sendId: send?.send_id ?? null, isForeign: false };
    return { notice, send, row };
  });
  const inserted = await insertNotices(
    scope,
    told.map(({ row }) => row),
  );
  const added = new Set(inserted.map(({ dedupe_key }) => dedupe_key));
  return told.filter(({ row }) => added.has(row.dedupeKey));
};
