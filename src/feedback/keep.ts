import type { Scope } from '../base/db.ts';
import type { SentTo } from '../delivery/delivery.ts';
import * as suppression from '../suppression/suppression.ts';
import type { Notice } from './notice.ts';
import { insertNotices, listKnown } from './queries.ts';
import type { NoticeRow } from './queries.ts';
import { findSends } from './sends.ts';

/**
 * What a notice is known by: its provider's own id may name the person, so a keyed hash of it is kept,
 * which also outlives them.
 */
const dedupeKeyOf = ({ keys, projectId }: Scope, source: string, { dedupeKey }: Notice): string =>
  keys.hash('notice-dedupe', `${projectId} ${source} ${dedupeKey}`).toString('base64url');

/** A notice that is new, and its row. */
export type Told = { notice: Notice; send: SentTo | null; row: NoticeRow };

/** Returns the notices that are not stored yet, each once, by their keys. */
const listNew = async (scope: Scope, source: string, notices: readonly Notice[]) => {
  const byKey = new Map<string, Notice>();
  for (const notice of notices) {
    const dedupeKey = dedupeKeyOf(scope, source, notice);
    if (!byKey.has(dedupeKey)) byKey.set(dedupeKey, notice);
  }
  for (const { dedupe_key } of await listKnown(scope, source, [...byKey.keys()]))
    byKey.delete(dedupe_key);
  return byKey;
};

/** Stores notices about messages that are not this project's: without address and text, and without an effect. */
export const keepForeign = async (
  scope: Scope,
  source: string,
  notices: readonly Notice[],
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
