// The alerts about a provider, each opened and resolved by the transaction that changes what it is about.
import * as alerts from '../alerts/alerts.ts';
import type { Scope } from '../base/db.ts';
import { inOneLine } from './account_answer.ts';
import type { AccountAnswer } from './account_answer.ts';
import { explanations, isExplained, toParked } from './failures.ts';
import { fixOfPause } from './holds.ts';
import { findProvider } from './queries.ts';
import type { Parked, ProviderRow } from './queries.ts';

const causeOf = (reason: string): string =>
  isExplained(reason) ? explanations[reason].cause : `It answers: ${reason}.`;

/** Why, and what the provider answered, in the text and in the details of an alert. */
const saidOf = (reason: string, answer: AccountAnswer | null) => {
  const said = inOneLine(answer);
  return said === null
    ? { why: causeOf(reason), details: { reason } }
    : { why: `${causeOf(reason)} It answered: ${said}`, details: { reason, answer: said } };
};

/** How messages to the owner name a provider. */
export const nameOf = ({ display_name, from_email }: ProviderRow): string =>
  `${display_name} (${from_email})`;

/** Alerts the owner that a provider is parked. The transaction has changed its record. */
export const alertParked = async (
  scope: Scope,
  providerId: string,
  { reason, answer }: Parked,
): Promise<void> => {
  const row = await findProvider(scope, providerId);
  if (!row) return;
  const { why, details } = saidOf(reason, answer);
  await alerts.openAlert(scope, {
    kind: 'provider_parked',
    subject: providerId,
    subjectName: row.display_name,
    summary: `Nothing is sent through ${nameOf(row)} until you change something. ${why}`,
    fix: isExplained(reason) ? toParked(reason).fix : 'Save the provider again, or send a test.',
    details,
  });
};

/** Resolves that alert. The transaction has saved or tested the provider. */
export const resolveParked = (scope: Scope, providerId: string): Promise<number> =>
  alerts.resolveAlert(scope, providerId, 'provider_parked');

type HeldChange = { before: string | null; after: string | null; answer: AccountAnswer | null };

/**
 * Opens or resolves the alert that a provider is held, where that has changed. The transaction holds the provider's
 * pace, so alerts come in the order of the changes.
 */
export const alertHeldChange = async (
  scope: Scope,
  providerId: string,
  { before, after, answer }: HeldChange,
): Promise<void> => {
  if (before === after) return;
  if (after === null) {
    await alerts.resolveAlert(scope, providerId, 'provider_held');
    return;
  }
  const row = await findProvider(scope, providerId);
  if (!row) return;
  const { why, details } = saidOf(after, answer);
  await alerts.openAlert(scope, {
    kind: 'provider_held',
    subject: providerId,
    subjectName: row.display_name,
    summary: `${nameOf(row)} takes no email of this account for now; what is queued waits. ${why}`,
    fix: fixOfPause(after),
    details,
  });
};
