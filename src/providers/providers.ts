import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import type { Keys } from '../base/keys.ts';
import type { AccountAnswer } from './account_answer.ts';
import { findBounceAddress, makeEnvelopeSender } from './bounce_mailbox/bounce_mailbox.ts';
import type { BounceAddress } from './bounce_mailbox/bounce_mailbox.ts';
import { networkOf } from './network.ts';
import { Links, LINKS_PER_PROVIDER_MAX } from './links.ts';
import type { SaidBounce, SendOutcome } from './outcome.ts';
import type { Used } from './pace_notes.ts';
import { alertParked } from './provider_alerts.ts';
import { findProvider, parkProvider } from './queries.ts';
import { openSettings, saveProvider } from './records.ts';
import type { NewProvider, Sender } from './records.ts';
import type { Settings } from './settings.ts';
import type { Link, WireMessage } from './transport.ts';

export { LINKS_PER_PROVIDER_MAX, saveProvider };
export { readEnvelopeSender, readMailbox } from './bounce_mailbox/bounce_mailbox.ts';
export type { TakeMessage, Turn, WhichMailbox } from './bounce_mailbox/bounce_mailbox.ts';
export { openCredential, rewrapDataKeys, sealCredential } from './credentials.ts';
export { recheckDomains } from './domain_health/domain_health.ts';
export { AccountAnswer, inOneLine, toAccountAnswer } from './account_answer.ts';
export { fixOf } from './failures.ts';
export { allow, isReached, setPlan, spend } from './pace.ts';
export { findState } from './pace_state.ts';
export {
  giveBack,
  noteAnswered,
  noteFailure,
  noteHeld,
  noteRefusals,
  noteWords,
  noteSuccess,
  noteThrottled,
} from './pace_notes.ts';
export type { Used } from './pace_notes.ts';
export {
  classifyRepeatedReply,
  normalizeReply,
  repliesOtherCause,
  sanitizeReply,
} from './answers/answers.ts';
export type { Classification } from './answers/answers.ts';
export { listOutside, relocate } from './outside.ts';
export { CIRCUIT_FIX, findHold, HOLDS } from './holds.ts';
export type { Hold } from './holds.ts';
export type { Allowance, Plan } from './pace.ts';
export type { PaceState } from './pace_state.ts';
export { toRaw } from './raw_message.ts';
export type { Prepared } from './raw_message.ts';
export { serviceOf, serviceOfHost } from './email_service.ts';
export { EMAIL_SERVICES } from './email_service.ts';
export type { EmailService } from './email_service.ts';
export { isTestEmail } from './test_email_id.ts';
export { sendTimeoutMs } from './smtp_timeouts.ts';
export { HAND_OFF_DEADLINE_MS } from './transport.ts';
export { REJECTION_REASONS } from './outcome.ts';
export type { Reply } from './outcome.ts';
export type { Link, NewProvider, SaidBounce, Sender, SendOutcome, Settings, WireMessage };

/** A provider ready to be used: its sender, and its settings with the secret in clear, in memory only. */
export type Ready = {
  projectId: string;
  providerId: string;
  revision: number;
  sender: Sender;
  /** Where its bounces go; null for the sender's own address. */
  bounces: BounceAddress;
  linkKey: string;
  settings: Settings;
};

/** The provider ready to be used, or null when it is gone or parked. */
export const findReady = async (scope: Scope, providerId: string): Promise<Ready | null> => {
  const row = await findProvider(scope, providerId);
  if (!row || row.status !== 'active') return null;
  return {
    projectId: scope.projectId,
    providerId,
    revision: row.revision,
    sender: { from_email: row.from_email, from_name: row.from_name, reply_to: row.reply_to },
    bounces: await findBounceAddress(scope, row.provider_id),
    linkKey: `${providerId}/${row.revision}`,
    settings: await openSettings(scope, row),
  };
};

/** Returns the envelope sender of a send: its own where the provider has it so (VERP). */
export const envelopeSenderOf = (keys: Keys, ready: Ready, sendId: string): string => {
  const { projectId, providerId, sender, bounces } = ready;
  const enveloped = { projectId, providerId, fromEmail: sender.from_email, bounces };
  return makeEnvelopeSender(keys, enveloped, sendId);
};

/** The address that a provider sends from; null when there is no such provider. */
export const findSender = async (scope: Scope, providerId: string): Promise<string | null> =>
  (await findProvider(scope, providerId))?.from_email ?? null;

/** Whether there is such a provider, parked or not. */
export const exists = async (scope: Scope, providerId: string): Promise<boolean> =>
  (await findProvider(scope, providerId)) !== null;

const makeLinks = (deps: Pick<Deps, 'config' | 'resources'>) => new Links(networkOf(deps));

/**
 * Lends an open, authenticated connection to one hand-off. When none can be had, `work` does not
 * run and the answer is the outcome: nothing was given to the provider.
 */
export const withLink = async <T>(
  deps: Deps,
  { linkKey, settings }: Ready,
  work: (link: Link) => Promise<T>,
): Promise<T | SendOutcome> => {
  const links = deps.resources.of(makeLinks, deps);
  const answer = await links.take(linkKey, settings);
  if (answer.kind === 'failed') return answer.outcome;
  try {
    return await work(answer.link);
  } finally {
    links.give(linkKey, answer.link);
  }
};

/**
 * Stops using a provider until its record is saved again, or a test of it passes. Returns whether it did: an answer to
 * settings that the record has no more parks nothing.
 */
export const park = async (
  scope: Scope,
  { providerId, revision }: Used,
  reason: string,
  answer: AccountAnswer | null = null,
): Promise<boolean> => {
  const why = { reason, answer };
  const parked = await parkProvider(scope, { provider_id: providerId, revision }, why);
  if (parked) await alertParked(scope, providerId, why);
  return parked !== null;
};
