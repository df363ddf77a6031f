import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { addressKey } from './address_key.ts';
import { changeSubscription, liftAddress, suppressAddress } from './change_queries.ts';
import type { SubscriptionChange } from './change_queries.ts';
import {
  eraseAddresses,
  eraseNotes,
  findAddress,
  findStop,
  findSuppressed,
  holdAddress,
  holdAddresses,
  listChanges,
  listErased,
  listWhy,
  listWords,
  lockAddresses,
} from './queries.ts';
import type { Known, Suppressed, SuppressionReason, Word } from './queries.ts';
import { changeSubscriptions, setSoftBounced, suppressAddresses } from './told_queries.ts';
import { makeUnsubscribeToken, readUnsubscribeToken } from './unsubscribe_token.ts';
import type { UnsubscribeLink } from './unsubscribe_token.ts';

export {
  eraseAddresses,
  eraseNotes,
  findSuppressed,
  holdAddress,
  holdAddresses,
  listChanges,
  listErased,
  lockAddresses,
  makeUnsubscribeToken,
  readUnsubscribeToken,
};
export { addressKey, mailboxKey } from './address_key.ts';
export { addImport, listImportedEmails, takeImportBack } from './imports.ts';
export type { Import, ImportItem } from './imports.ts';
export { CHANGES } from './queries.ts';
export type { Word } from './queries.ts';
export { reasonsAt } from './as_of.ts';
export type { Suppressed, SuppressionReason, UnsubscribeLink };

/** Whether this project has known an address: one that it sent to, or that a notice was about. */
export const isKnown = async (scope: Scope, key: Buffer): Promise<boolean> =>
  (await findAddress(scope, key)) !== null;

/** Who says something about an address, and when it became so: at once, where nobody says otherwise. */
export type Said = { email: string; source: string; at?: Date; note?: string; changeId?: string };

const toRow = (scope: Scope, { email, source, at, note, changeId }: Said) => ({
  addressKey: addressKey(scope, email),
  email,
  historyId: changeId ?? newId(),
  source,
  at: at ?? null,
  note: note ?? null,
});

/**
 * Puts an address on the list. Once the transaction has committed, no hand-off to it begins. Feedback
 * says `at`, when it happened, and then leads to the same list in any order.
 */
export const suppress = async (
  scope: Scope,
  { reason, ...said }: Said & { reason: SuppressionReason },
): Promise<void> => {
  await suppressAddress(scope, { ...toRow(scope, said), reason });
};

/** The same of many addresses at once. */
export const suppressAll = async (
  scope: Scope,
  told: readonly (Said & { reason: SuppressionReason })[],
): Promise<void> => {
  const rows = told.map(({ reason, ...said }) => ({ ...toRow(scope, said), reason }));
  if (rows.length > 0) await suppressAddresses(scope, rows);
};

/**
 * Says since when some addresses have bounced softly too often in a row; null takes that back, and nothing else.
 */
export const suppressSoftBounced = async (
  scope: Scope,
  told: readonly { email: string; source: string; since: Date | null }[],
): Promise<void> => {
  const rows = told.map((one) => ({
    ...one,
    addressKey: addressKey(scope, one.email),
    historyId: newId(),
  }));
  if (rows.length > 0) await setSoftBounced(scope, rows);
};

export type Lift = {
  email: string;
  source: string;
  note: string;
  /** Said a second time: that a complaint is to be lifted too. */
  liftsComplaints: boolean;
  changeId?: string;
};

/** Takes an address off the list; answers whether it was on it. Unsubscribes are not touched. */
export const lift = (
  scope: Scope,
  { email, source, note, liftsComplaints, changeId }: Lift,
): Promise<boolean> =>
  liftAddress(scope, {
    addressKey: addressKey(scope, email),
    historyId: changeId ?? newId(),
    source,
    note,
    liftsComplaints,
  });

/**
 * Stops marketing mail to an address. Once the transaction has committed, no hand-off of any begins.
 * Answers whether it was subscribed until now.
 */
export const unsubscribe = (scope: Scope, said: Said): Promise<boolean> =>
  changeSubscription(scope, { ...toRow(scope, said), change: 'unsubscribed' });

/** Takes an unsubscribe back, and no suppression. Answers whether it was unsubscribed until now. */
export const resubscribe = (scope: Scope, said: Said): Promise<boolean> =>
  changeSubscription(scope, { ...toRow(scope, said), change: 'resubscribed' });

/** What many say of their marketing mail at once, in this order. */
export const changeSubscriptionsOf = async (
  scope: Scope,
  told: readonly (Said & Pick<SubscriptionChange, 'change'>)[],
): Promise<void> => {
  const rows = told.map(({ change, ...said }) => ({ ...toRow(scope, said), change }));
  if (rows.length > 0) await changeSubscriptions(scope, rows);
};

/** The same by a link in a mail, which knows the address by its key alone: erased people leave too. */
export const changeByLink = (
  scope: Scope,
  { addressKey: key }: UnsubscribeLink,
  change: 'unsubscribed' | 'resubscribed',
): Promise<boolean> =>
  changeSubscription(scope, {
    addressKey: key,
    email: null,
    historyId: newId(),
    change,
    source: 'link',
    at: null,
  });

/** How an address reads, by its key; null once its person is erased, or when nobody mentioned it. */
export const readAddress = async (scope: Scope, key: Buffer): Promise<string | null> =>
  (await findAddress(scope, key))?.email ?? null;

/** An address as it stands; null when nobody ever mentioned it. */
export const findByEmail = (scope: Scope, email: string): Promise<Known | null> =>
  findAddress(scope, addressKey(scope, email));

/** Whether the address is on the list now. A hand-off asks `suppression.stop_mails` instead, under a lock. */
export const isOnList = async (scope: Scope, email: string): Promise<boolean> =>
  (await findSuppressed(scope, addressKey(scope, email))) !== null;

/**
 * Whether an address gets not even mail that was asked for. The answer holds until the transaction ends: a
 * suppression that comes meanwhile is acknowledged after it.
 */
export const mustBeLeftAlone = async (scope: Scope, email: string): Promise<boolean> =>
  (await findStop(scope, addressKey(scope, email), 'transactional')) !== null;

/** Why some addresses are left alone, each in a fixed order; nothing where they are not. */
export const listReasonsOf = async (
  scope: Scope,
  emails: readonly string[],
): Promise<Map<string, (SuppressionReason | 'unsubscribed')[]>> => {
  const keyOf = (email: string) => addressKey(scope, email).toString('hex');
  const keys = [...new Set(emails.map(keyOf))].map((key) => Buffer.from(key, 'hex'));
  const rows = keys.length === 0 ? [] : await listWhy(scope, keys);
  const byKey = Map.groupBy(rows, ({ address_key }) => address_key.toString('hex'));
  return new Map(
    emails.map((email) => [email, (byKey.get(keyOf(email)) ?? []).map(({ reason }) => reason)]),
  );
};

/** The same of one address. */
export const listReasons = async (
  scope: Scope,
  email: string,
): Promise<(SuppressionReason | 'unsubscribed')[]> =>
  (await listReasonsOf(scope, [email])).get(email) ?? [];

/** All that was ever said of some addresses, by their keys in hex: `reasonsAt` judges it as of a moment. */
export const readWords = async (
  scope: Scope,
  addressKeys: readonly Buffer[],
): Promise<Map<string, Word[]>> => {
  const words = await listWords(scope, addressKeys);
  return Map.groupBy(words, ({ address_key }) => address_key.toString('hex'));
};

/** The same by the addresses themselves. */
export const readWordsOf = async (
  scope: Scope,
  emails: readonly string[],
): Promise<Map<string, Word[]>> => {
  const keyOf = (email: string) => addressKey(scope, email);
  const byKey = await readWords(scope, emails.map(keyOf));
  return new Map(emails.map((email) => [email, byKey.get(keyOf(email).toString('hex')) ?? []]));
};
