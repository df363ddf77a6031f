// Conditions that the owner of a project has to act on. The code that changes a state opens and resolves its alert.
import type { Scope } from '../base/db.ts';
import { pruneAlerts as prune, resolveAlerts } from './queries.ts';
import type { AlertKind } from './kinds.ts';

export { ALERT_KINDS, ALERT_WEBHOOK_TYPES, webhookTypeOf } from './kinds.ts';
export type { AlertKind } from './kinds.ts';
export {
  claimAnnouncements,
  deleteAnnouncements,
  findAlert,
  listOpenSubjects,
  openAlert,
} from './queries.ts';
export type { AlertStatus, NewAlert } from './queries.ts';
export { readAlertSettings } from './settings.ts';
export { Alert, ALERT_SHOWN, toAlert } from './shown.ts';

/** How many days a resolved alert is kept, and how many of them a project keeps. */
export const ALERTS_KEPT_DAYS = 90;
export const RESOLVED_ALERTS_MAX = 1_000;

/** Resolves the open alerts of a kind, or of several, about a subject. Returns how many were open. */
export const resolveAlert = (
  scope: Scope,
  subject: string,
  ...kinds: [AlertKind, ...AlertKind[]]
): Promise<number> => resolveAlerts(scope, subject, kinds);

/** Resolves every open alert about a subject, which is gone. */
export const resolveSubject = (scope: Scope, subject: string): Promise<number> =>
  resolveAlerts(scope, subject, null);

/** Deletes resolved alerts that are too old, or too many. Returns how many. */
export const pruneAlerts = (scope: Scope): Promise<number> =>
  prune(scope, { days: ALERTS_KEPT_DAYS, keptMax: RESOLVED_ALERTS_MAX });
