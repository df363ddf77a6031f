import { UniqueIntegrityConstraintViolationError } from 'slonik';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { Refusal } from '../base/refusal.ts';
import { countCheck, prove } from './checks.ts';
import { completeMailbox, keepMailbox, proveMailbox } from './bounce_mailbox/bounce_mailbox.ts';
import type { MailboxChange } from './bounce_mailbox/bounce_mailbox.ts';
import {
  findByFromEmail,
  findProvider,
  getByFromEmail,
  insertProvider,
  updateProvider,
} from './queries.ts';
import type { ProviderRow } from './queries.ts';
import { withoutHalfLogin } from './login.ts';
import { setPlan } from './pace.ts';
import type { Plan } from './pace.ts';
import { noteProved } from './pace_notes.ts';
import { resolveParked } from './provider_alerts.ts';
import { findStrangers, KIND_FIELDS } from './kind_fields.ts';
import type { ProviderChange } from './schema.ts';
import { refuseElsewhere } from './secret_again.ts';
import { held, openSettings, toNewRow } from './sealed_settings.ts';
import type { NewProvider } from './sealed_settings.ts';
import type { Settings } from './settings.ts';

export { openSettings };
export type { NewProvider, Sender } from './sealed_settings.ts';

/** How often a change is tried anew when others change the same record meanwhile. */
const CHANGE_TRIES_MAX = 5;

/** How fast a record says that the provider may be used. */
export const planOf = (row: ProviderRow): Plan => {
  const { rate_per_second, ramp_started_on: started_on, ramp_stages: stages } = row;
  return { rate_per_second, ramp: started_on !== null && stages ? { started_on, stages } : null };
};

/** Keeps how fast a provider may be used. A provider that was proved just now has no failures and is not parked. */
const keepPlan = async (
  scope: Scope,
  providerId: string,
  { rate_per_second = null, ramp = null }: Partial<Plan>,
  isProved = true,
): Promise<void> => {
  await setPlan(scope, providerId, { rate_per_second, ramp });
  if (!isProved) return;
  await resolveParked(scope, providerId);
  await noteProved(scope, providerId);
};

type Kept = { plan: Partial<Plan>; mailbox: MailboxChange; isProved: boolean };

/** Keeps what a record has besides its settings: its plan and its bounce mailbox. */
const keepAll = async (
  scope: Scope,
  providerId: string,
  { plan, mailbox, isProved }: Kept,
): Promise<void> => {
  await keepPlan(scope, providerId, plan, isProved);
  await keepMailbox(scope, providerId, mailbox);
};

/** Proves that the settings work, then keeps them: a new record, or new settings for the same from-address. */
export const saveProvider = async (
  deps: Deps,
  projectId: string,
  provider: NewProvider,
): Promise<string> => {
  const isOutside = await prove(deps, provider);
  return inProject(deps, projectId, async (scope) => {
    const made = await toNewRow(scope, newId(), provider, isOutside);
    const inserted = await insertProvider(scope, made);
    if (inserted) {
      await keepPlan(scope, inserted.provider_id, provider);
      return inserted.provider_id;
    }
    const { provider_id, revision } = await getByFromEmail(scope, provider.from_email);
    const row = await toNewRow(scope, provider_id, provider, isOutside);
    await updateProvider(scope, row, { revision, isProved: true });
    await keepPlan(scope, provider_id, provider);
    return provider_id;
  });
};

/** Refuses an address that another record has: before anybody is connected to. */
const refuseTaken = async (scope: Scope, fromEmail: string, ownId: string): Promise<void> => {
  const other = await findByFromEmail(scope, fromEmail);
  if (other && other.provider_id !== ownId) throw new Refusal('from_email_taken');
};

/** Proves that the settings work, then keeps them under the id; answers the record that is there already for it. */
export const createProvider = async (
  deps: Deps,
  projectId: string,
  providerId: string,
  provider: NewProvider,
): Promise<ProviderRow> => {
  const known = await inProject(deps, projectId, async (scope) => {
    await refuseTaken(scope, provider.from_email, providerId);
    return findProvider(scope, providerId);
  });
  if (known) return known;
  await countCheck(deps, projectId);
  const isOutside = await prove(deps, provider);
  const mailbox = await inProject(deps, projectId, (scope) =>
    completeMailbox(scope, providerId, provider.bounce_mailbox),
  );
  if (mailbox) await proveMailbox(deps, mailbox);
  return inProject(deps, projectId, async (scope) => {
    const made = await toNewRow(scope, providerId, provider, isOutside);
    const inserted = await insertProvider(scope, made);
    if (inserted) await keepAll(scope, providerId, { plan: provider, mailbox, isProved: true });
    await refuseTaken(scope, provider.from_email, providerId);
    return held(await findProvider(scope, providerId));
  });
};

const isTaken = (error: unknown): boolean =>
  error instanceof UniqueIntegrityConstraintViolationError &&
  error.constraint === 'providers_by_from_email';

/** The record as it shall be. Of a kind's fields only its own can be in a change. */
const merge = (row: ProviderRow, settings: Settings, change: ProviderChange): NewProvider => {
  const given = Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  );
  const { display_name, from_email, from_name, reply_to } = row;
  const kept = { display_name, from_email, from_name, reply_to, ...planOf(row), ...settings };
  return withoutHalfLogin({ ...kept, ...given } as NewProvider, change);
};

/** Whether a change is one of how to reach the provider, or for whom: then it has to be proved. */
const isConnection = ({ provider }: ProviderRow, change: ProviderChange): boolean =>
  ['from_email', ...KIND_FIELDS[provider]].some(
    (name) => change[name as keyof ProviderChange] !== undefined,
  );

const tryChange = async (
  deps: Deps,
  projectId: string,
  row: ProviderRow,
  change: ProviderChange,
): Promise<ProviderRow | null> => {
  const { provider_id: providerId, revision } = row;
  refuseElsewhere(row, change);
  const { changed, mailbox } = await inProject(deps, projectId, async (scope) => {
    if (change.from_email !== undefined) await refuseTaken(scope, change.from_email, providerId);
    return {
      changed: merge(row, await openSettings(scope, row), change),
      mailbox: await completeMailbox(scope, providerId, change.bounce_mailbox),
    };
  });
  const isProved = isConnection(row, change);
  if (isProved || mailbox) await countCheck(deps, projectId);
  const isOutside = isProved ? await prove(deps, changed) : row.is_outside;
  if (mailbox) await proveMailbox(deps, mailbox);
  return inProject(deps, projectId, async (scope) => {
    const next = await toNewRow(scope, providerId, changed, isOutside);
    const updated = await updateProvider(scope, next, { revision, isProved });
    if (!updated) return null;
    await keepAll(scope, providerId, { plan: changed, mailbox, isProved });
    return findProvider(scope, providerId);
  });
};

/**
 * Changes a record. A connection field that is sent is proved, also one that stays as it is: that is how a
 * parked provider comes back. What was proved is what is kept, whoever else changes the record meanwhile.
 */
export const changeProvider = async (
  deps: Deps,
  projectId: string,
  found: ProviderRow,
  change: ProviderChange,
): Promise<ProviderRow> => {
  const issues = findStrangers({ ...change, provider: found.provider });
  if (issues.length > 0) throw new Refusal('invalid_request', { issues });
  let row: ProviderRow | null = found;
  for (let tries = 0; row && tries < CHANGE_TRIES_MAX; tries += 1) {
    const changed = await tryChange(deps, projectId, row, change).catch((error: unknown) => {
      throw isTaken(error) ? new Refusal('from_email_taken', { cause: error }) : error;
    });
    if (changed) return changed;
    row = await inProject(deps, projectId, (scope) => findProvider(scope, found.provider_id));
  }
  if (!row) throw new Refusal('not_found');
  throw new Error('the provider record is changed all the time');
};
