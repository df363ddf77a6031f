import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { Refusal } from '../base/refusal.ts';
import { openCredential, sealCredential } from './credentials.ts';
import { Links, LINKS_PER_PROVIDER_MAX } from './links.ts';
import { hints } from './outcome.ts';
import type { SendOutcome } from './outcome.ts';
import {
  findProvider,
  getByFromEmail,
  insertProvider,
  parkProvider,
  updateProvider,
} from './queries.ts';
import type { ProviderRow } from './queries.ts';
import { preflightSmtp } from './smtp.ts';
import type { SmtpLink, SmtpSettings, WireMessage } from './smtp.ts';
import { toOutcome } from './smtp_errors.ts';

export { LINKS_PER_PROVIDER_MAX };
export { SMTP_SEND_TIMEOUT_MS } from './smtp.ts';
export type { SendOutcome, SmtpLink, WireMessage };

/** A provider record as a customer gives it. */
export type NewProvider = SmtpSettings & {
  display_name: string;
  from_email: string;
  from_name: string | null;
  reply_to: string | null;
};

const place = (providerId: string) => ({ recordId: providerId, field: 'password' });

/** Refuses settings that do not work, with the class of the failure and what to do about it. */
const preflight = async ({ config }: Deps, settings: SmtpSettings): Promise<void> => {
  const outcome = await preflightSmtp(settings, config.egressAllowNetworks);
  if (outcome.kind === 'passed') return;
  const members = { reason: outcome.reason, hint: hints[outcome.reason] };
  throw new Refusal('provider_preflight_failed', { members });
};

const toNewRow = async (scope: Scope, providerId: string, { password, ...fields }: NewProvider) => {
  const { keyVersion, sealed } = await sealCredential(scope, place(providerId), password);
  return { provider_id: providerId, ...fields, key_version: keyVersion, password: sealed };
};

/** Proves that the settings work, then keeps them: a new record, or new settings for the same from-address. */
export const saveProvider = async (
  deps: Deps,
  projectId: string,
  provider: NewProvider,
): Promise<string> => {
  await preflight(deps, provider);
  return inProject(deps, projectId, async (scope) => {
    const inserted = await insertProvider(scope, await toNewRow(scope, newId(), provider));
    if (inserted) return inserted.provider_id;
    const { provider_id } = await getByFromEmail(scope, provider.from_email);
    await updateProvider(scope, await toNewRow(scope, provider_id, provider));
    return provider_id;
  });
};

/** Who a message comes from. */
export type Sender = Pick<ProviderRow, 'from_email' | 'from_name' | 'reply_to'>;

/** A provider ready to be used: its sender, and its settings with the password in clear, in memory only. */
export type Ready = { providerId: string; sender: Sender; linkKey: string; settings: SmtpSettings };

/** The provider ready to be used, or null when it is gone or parked. */
export const findReady = async (scope: Scope, providerId: string): Promise<Ready | null> => {
  const row = await findProvider(scope, providerId);
  if (!row || row.status !== 'active') return null;
  const sealed = { keyVersion: row.key_version, sealed: row.password };
  const { smtp_host, smtp_port, smtp_secure, username } = row;
  const password = await openCredential(scope, place(providerId), sealed);
  return {
    providerId,
    sender: { from_email: row.from_email, from_name: row.from_name, reply_to: row.reply_to },
    linkKey: `${providerId}/${row.updated_at.getTime()}`,
    settings: { smtp_host, smtp_port, smtp_secure, username, password },
  };
};

const makeLinks = ({ config }: Pick<Deps, 'config'>) => new Links(config.egressAllowNetworks);

/**
 * Lends an open, authenticated connection to one hand-off. When none can be had, `work` does not
 * run and the answer is the outcome: nothing was given to the provider.
 */
export const withLink = async <T>(
  deps: Deps,
  { linkKey, settings }: Ready,
  work: (link: SmtpLink) => Promise<T>,
): Promise<T | SendOutcome> => {
  const links = deps.resources.of(makeLinks, deps);
  const outcome = await links.take(linkKey, settings);
  if (outcome.kind === 'failed') return toOutcome(outcome.error, 'before_body');
  try {
    return await work(outcome.link);
  } finally {
    links.give(linkKey, outcome.link);
  }
};

/** Failures that a person has to mend: going on would only lock the account. */
export const HOPELESS_REASONS: readonly string[] = ['authentication_failed', 'certificate_invalid'];

/** Stops using a provider until its record is saved again. */
export const park = async (scope: Scope, providerId: string, reason: string): Promise<void> => {
  await parkProvider(scope, providerId, reason);
};
