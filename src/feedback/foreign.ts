import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import type { EmailService, SentTo } from '../delivery/delivery.ts';
import * as suppression from '../suppression/suppression.ts';
import { dialectOf, sourceOf } from './dialects/dialects.ts';
import type { Notice } from './notice.ts';
import { isAboutTest, sendIdOf, traceOf } from './sends.ts';
import { unreachable } from './topics/topics.ts';

export type Separated = {
  /** Notices that may have an effect. */
  own: readonly Notice[];
  /** Notices about messages that are not this project's. */
  foreign: readonly Notice[];
};

type Found = { notice: Notice; send: SentTo | null };

/** Returns each notice with the send that its id names. An address alone names no send. */
const findById = async (scope: Scope, notices: readonly Notice[]): Promise<Found[]> => {
  const traces = notices.map((notice) => traceOf(scope, notice));
  const sends = await delivery.findNamed(scope, traces);
  return notices.map((notice, nth) => ({ notice, send: sends[nth] ?? null }));
};

/**
 * Whether the recipient is the one of the send. An erased send has no address any more; then every address counts
 * that this project has known, because each address of a send is one of them.
 */
const isRecipient = async (scope: Scope, { email }: Notice, send: SentTo): Promise<boolean> => {
  const key = suppression.addressKey(scope, email);
  if (send.address_key !== null) return send.address_key.equals(key);
  return suppression.isKnown(scope, key);
};

/** Whether a notice has none of our own ids: only the service's id of the message can name the send. */
const isUnnamed = (notice: Notice): boolean => sendIdOf(notice) === null;

/**
 * Refuses for now what may be about an email that is being handed to a service at this moment: the outcome brings the
 * service's id of the message. Until then any send to the address could be meant. The vendor posts it again.
 */
const requireSettled = (isUnderWay: boolean, unmatched: readonly Notice[]): void => {
  if (isUnderWay && unmatched.length > 0)
    throw unreachable('The message may be one that is being handed over.');
};

/** Whether an email to one of these addresses is being handed to the service. Asked before the search for ids. */
const isUnderWay = (scope: Scope, unnamed: readonly Notice[], service: EmailService) => {
  const keys = unnamed.map(({ email }) => suppression.addressKey(scope, email));
  return unnamed.length === 0
    ? Promise.resolve(false)
    : delivery.isHandingOff(scope, keys, service);
};

const separateHandedTo = async (
  scope: Scope,
  notices: readonly Notice[],
  service: EmailService,
): Promise<Separated> => {
  const unnamed = notices.filter(isUnnamed);
  const isWaiting = await isUnderWay(scope, unnamed, service);
  const found = await findById(scope, notices);
  const ids = found.flatMap(({ send }) => send?.send_id ?? []);
  const handed = new Set(
    (await delivery.listHandedTo(scope, ids, service)).map(({ send_id }) => send_id),
  );
  const separated: { own: Notice[]; foreign: Notice[] } = { own: [], foreign: [] };
  for (const { notice, send } of found) {
    const isOwn =
      isAboutTest(scope, notice, [service]) ||
      (send !== null && handed.has(send.send_id) && (await isRecipient(scope, notice, send)));
    separated[isOwn ? 'own' : 'foreign'].push(notice);
  }
  requireSettled(
    isWaiting,
    separated.foreign.filter((notice) => unnamed.includes(notice)),
  );
  return separated;
};

/** Separates notices that name a send which this project does not have: their messages belong to another project. */
const separateOthers = async (
  scope: Scope,
  notices: readonly Notice[],
  service: EmailService | undefined,
): Promise<Separated> => {
  const unnamed = notices.filter(isUnnamed);
  const withIds =
    service === undefined ? [] : unnamed.filter(({ messageIds }) => messageIds.length > 0);
  const isWaiting = service !== undefined && (await isUnderWay(scope, withIds, service));
  const named = notices.filter(
    (notice) => !unnamed.includes(notice) && !isAboutTest(scope, notice),
  );
  const asked = isWaiting ? [...named, ...withIds] : named;
  const unmatched = new Set(
    (await findById(scope, asked)).filter(({ send }) => send === null).map(({ notice }) => notice),
  );
  requireSettled(
    isWaiting,
    withIds.filter((notice) => unmatched.has(notice)),
  );
  const isForeign = (notice: Notice): boolean => unmatched.has(notice);
  return { own: notices.filter((one) => !isForeign(one)), foreign: notices.filter(isForeign) };
};

/**
 * Separates notices about messages of this project from notices about messages of others, which have no effect. A
 * proof shows who posts, not whose message it is: that depends on the dialect (`Dialect.about`).
 */
export const separateForeign = (
  scope: Scope,
  source: string,
  notices: readonly Notice[],
): Promise<Separated> | Separated => {
  const known = sourceOf(source);
  const { about = 'any', service } = known === null ? {} : dialectOf(known);
  switch (about) {
    case 'any':
      return { own: notices, foreign: [] };
    case 'not_foreign':
      return separateOthers(scope, notices, service);
    default:
      return separateHandedTo(scope, notices, about);
  }
};
