import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import type { EmailService, SentTo } from '../delivery/delivery.ts';
import * as suppression from '../suppression/suppression.ts';
import { adapters, sourceOf } from './adapters.ts';
import type { Notice } from './notice.ts';
import { isAboutTest, traceOf } from './sends.ts';
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
const isUnnamed = (scope: Scope, notice: Notice): boolean => traceOf(scope, notice).sendId === null;

const separateHandedTo = async (
  scope: Scope,
  notices: readonly Notice[],
  service: EmailService,
): Promise<Separated> => {
  // Before the search: an outcome that is written in between is found by it.
  const unnamed = notices.filter((notice) => isUnnamed(scope, notice));
  const keys = unnamed.map(({ email }) => suppression.addressKey(scope, email));
  const isUnderWay = await delivery.isHandingOff(scope, keys, service);
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
  // The outcome brings the service's id of the message. Until then any send to the address could be meant.
  if (isUnderWay && separated.foreign.some((notice) => unnamed.includes(notice)))
    throw unreachable('The message may be one that is being handed over.');
  return separated;
};

/** Separates notices that name a send which this project does not have: their messages belong to another project. */
const separateOthers = async (scope: Scope, notices: readonly Notice[]): Promise<Separated> => {
  const named = notices.filter(
    (notice) => !isUnnamed(scope, notice) && !isAboutTest(scope, notice),
  );
  const found = await findById(scope, named);
  const foreign = found.filter(({ send }) => send === null).map(({ notice }) => notice);
  return { own: notices.filter((notice) => !foreign.includes(notice)), foreign };
};

/**
 * Separates notices about messages of this project from notices about messages of others, which have no effect. A
 * proof shows who posts, not whose message it is: that depends on the dialect (`Adapter.about`).
 */
export const separateForeign = (
  scope: Scope,
  source: string,
  notices: readonly Notice[],
): Promise<Separated> | Separated => {
  const dialect = sourceOf(source);
  const about = dialect === null ? 'any' : adapters[dialect].about;
  switch (about) {
    case 'any':
      return { own: notices, foreign: [] };
    case 'not_foreign':
      return separateOthers(scope, notices);
    default:
      return separateHandedTo(scope, notices, about);
  }
};
