// The alerts about a provider, each opened and resolved by the transaction that changes what it is about.
import * as alerts from '../alerts/alerts.ts';
import type { Scope } from '../base/db.ts';
import { explanations, isExplained, toParked } from './failures.ts';
import { fixOfPause } from './holds.ts';
import { findProvider } from './queries.ts';
import type { ProviderRow } from './queries.ts';

const causeOf = (reason: string): string =>
  isExplained(reason) ? explanations[reason].cause : `It answers: ${reason}.`;

/** How messages to the owner name a provider. */
export const nameOf = ({ display_name, from_email }: ProviderRow): string =>
  `${display_name} (${from_email})`;

/** Alerts the owner that a provider is parked. The transaction has changed its record. */
export const alertParked = async (
  scope: Scope,
  providerId: string,
  reason: string,
): Promise<void> => {
  const row = await findProvider(scope, providerId);
  if (!row) return;
  await alerts.openAlert(scope, {
    kind: 'provider_parked',
    subject: providerId,
    subjectName: row.display_name,
    summary: `Nothing is sent through ${nameOf(row)} until you change something. ${causeOf(reason)}`,
    fix: isExplained(reason) ? toParked(reason).fix : 'Save the provider again, or send a test.',
    details: { reason },
  });
};

/** Resolves that alert. The transaction has saved or tested the provider. */
export const resolveParked = (scope: Scope, providerId: string): Promise<number> =>
  alerts.resolveAlert(scope, providerId, 'provider_parked');

/**
 * Opens or resolves the alert that a provider is held, where that has changed. The transaction holds the provider's
 * pace, so alerts come in the order of the changes.
 */
export const alertHeldChange = async (
  scope: Scope,
  providerId: string,
  { before, after }: { before: string | null; after: string | null },
): Promise<void> => {
  if (before === after) return;
  if (after === null) {
    await alerts.resolveAlert(scope, providerId, 'provider_held');
    return;
  }
  const row = await findProvider(scope, providerId);
  if (!row) return;
  await alerts.openAlert(scope, {
    kind: 'provider_held',
    subject: providerId,
    subjectName: row.display_name,
    summary: `${nameOf(row)} takes no email of this account for now; what is queued waits. ${causeOf(after)}`,
    fix: fixOfPause(after),
    details: { reason: after },
  });
};
