import { inProject } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { Refusal } from '../../base/refusal.ts';
import { nameServersOf } from '../../base/resolve_host.ts';
import { openCredential, sealCredential } from '../credentials.ts';
import { toFailure } from '../failures.ts';
import { resolveMailbox } from './alert_owner.ts';
import { withMailbox } from './imap.ts';
import type { MailboxSettings } from './imap.ts';
import type { MailboxFailure } from './imap_failures.ts';
import {
  deleteMailbox,
  findMailbox,
  upsertMailbox,
  writeTestFailed,
  writeTestPassed,
} from './queries.ts';
import type { MailboxRow } from './queries.ts';
import type { BounceMailboxInput } from './schema.ts';
import type { BounceAddress } from './verp.ts';

/** A bounce mailbox as it shall be, with its password in clear: in memory only. */
export type NewMailbox = BounceMailboxInput & { password: string };

/** Set, removed, or left as it is. */
export type MailboxChange = NewMailbox | null | undefined;

/** Returns where the bounces of a provider go; null for the address of its sender. */
export const findBounceAddress = async (
  scope: Scope,
  providerId: string,
): Promise<BounceAddress> => {
  const row = await findMailbox(scope, providerId);
  return row?.bounce_address ? { address: row.bounce_address, verp: row.verp } : null;
};

/** Part of what the seal is bound to, so never renamed. */
const SECRET_FIELD = 'bounce_mailbox_password';

const placeOf = (providerId: string) => ({ recordId: providerId, field: SECRET_FIELD });

/** Returns how to read a mailbox, its password in clear. */
export const openMailboxSettings = async (
  scope: Scope,
  row: MailboxRow,
): Promise<MailboxSettings> => {
  const { host, port, secure, username, folder, after_read, move_to } = row;
  const sealed = { keyVersion: row.key_version, sealed: row.secret };
  const password = await openCredential(scope, placeOf(row.provider_id), sealed);
  return { host, port, secure, username, folder, after_read, move_to, password };
};

const PASSWORD_AGAIN =
  'needed: the stored password is given only to the host, port and encryption that it was set for';

const refusePassword = (): never => {
  throw new Refusal('invalid_request', {
    issues: [{ path: '/bounce_mailbox/password', message: PASSWORD_AGAIN }],
  });
};

/** Adds the stored password to a change without one. Refuses that for another host, port or encryption. */
export const completeMailbox = async (
  scope: Scope,
  providerId: string,
  given: BounceMailboxInput | null | undefined,
): Promise<MailboxChange> => {
  if (given === undefined || given === null) return given;
  const { password } = given;
  if (password !== undefined) return { ...given, password };
  const row = await findMailbox(scope, providerId);
  const isSame = row?.host === given.host && row.port === given.port && row.secure === given.secure;
  if (!row || !isSame) return refusePassword();
  return { ...given, password: (await openMailboxSettings(scope, row)).password };
};

/** Connects, logs in and opens the folder. Returns why it failed, or null. */
const tryMailbox = async (
  deps: Pick<Deps, 'config' | 'resources'>,
  settings: MailboxSettings,
): Promise<MailboxFailure | null> => {
  const way = { allowNetworks: deps.config.egressAllowNetworks, nameServers: nameServersOf(deps) };
  const outcome = await withMailbox(settings, way, () => Promise.resolve());
  return outcome.kind === 'failed' ? outcome.failure : null;
};

/** Refuses settings of a mailbox that do not work, with the class of the failure and what to do about it. */
export const proveMailbox = async (deps: Deps, mailbox: NewMailbox): Promise<void> => {
  const failure = await tryMailbox(deps, mailbox);
  if (failure) throw new Refusal('provider_preflight_failed', { members: toFailure(failure) });
};

/** Stores a mailbox of a provider, which was proved, or removes it. Either resolves its alert. */
export const keepMailbox = async (
  scope: Scope,
  providerId: string,
  change: MailboxChange,
): Promise<void> => {
  if (change === undefined) return;
  if (change === null) {
    await deleteMailbox(scope, providerId);
    await resolveMailbox(scope, providerId);
    return;
  }
  const { password, ...settings } = change;
  const { keyVersion, sealed } = await sealCredential(scope, placeOf(providerId), password);
  const row = { ...settings, provider_id: providerId, key_version: keyVersion, secret: sealed };
  await upsertMailbox(scope, row);
  await resolveMailbox(scope, providerId);
};

/**
 * Tests the mailbox of a provider, if it has one, and writes the result: a mailbox that works is read again. Refuses
 * with the class of the failure.
 */
export const testMailbox = async (
  deps: Deps,
  projectId: string,
  providerId: string,
): Promise<void> => {
  const found = await inProject(deps, projectId, async (scope) => {
    const row = await findMailbox(scope, providerId);
    return row && { row, settings: await openMailboxSettings(scope, row) };
  });
  if (!found) return;
  const failure = await tryMailbox(deps, found.settings);
  await inProject(deps, projectId, async (scope) => {
    if (failure) await writeTestFailed(scope, found.row, failure);
    else if (await writeTestPassed(scope, found.row)) await resolveMailbox(scope, providerId);
  });
  if (failure) throw new Refusal('provider_test_failed', { members: toFailure(failure) });
};
