import { z } from 'zod';
import { ALERTS_KEPT_DAYS } from '../alerts/alerts.ts';
import { DELIVERIES_KEPT_HOURS, SECRET_OVERLAP_HOURS } from '../automations/automations.ts';
import { KEPT_HOURS } from '../base/idempotency.ts';
import { inProject } from '../base/db.ts';
import { ownerProcedure, projectProcedure, router } from '../base/procedure.ts';
import { changeRetention, readRetention, RetentionChange } from '../delivery/delivery.ts';
import type { RetentionSettings } from '../delivery/delivery.ts';
import { POSTS_KEPT_HOURS } from '../feedback/feedback.ts';
import { WINDOW_DAYS_MAX } from '../segments/segments.ts';
import type { Config } from '../config.ts';
import { AUDIT_MONTHS } from './audit_log.ts';

type Unit = 'months' | 'days' | 'hours';
type Kept = { what: string; value: number; unit: Unit };

/** Lists how long a project keeps what goes by itself, by the numbers that the jobs go by which remove it. */
export const listKept = (
  { retentionMonths }: Pick<Config, 'retentionMonths'>,
  { content_days, sends_months, runs_months, anonymous_months }: RetentionSettings,
) =>
  [
    { what: 'events', value: retentionMonths, unit: 'months' },
    { what: 'content', value: content_days, unit: 'days' },
    { what: 'sends', value: sends_months ?? retentionMonths, unit: 'months' },
    { what: 'message_ids', value: retentionMonths, unit: 'months' },
    { what: 'segment_history', value: retentionMonths, unit: 'months' },
    { what: 'runs', value: runs_months ?? retentionMonths, unit: 'months' },
    { what: 'refusals', value: retentionMonths, unit: 'months' },
    { what: 'anonymous_people', value: anonymous_months ?? retentionMonths, unit: 'months' },
    { what: 'counters', value: WINDOW_DAYS_MAX, unit: 'days' },
    { what: 'audit_log', value: AUDIT_MONTHS, unit: 'months' },
    { what: 'signed_webhooks', value: POSTS_KEPT_HOURS, unit: 'hours' },
    { what: 'idempotency_keys', value: KEPT_HOURS, unit: 'hours' },
    { what: 'alerts', value: ALERTS_KEPT_DAYS, unit: 'days' },
    { what: 'webhook_deliveries', value: DELIVERIES_KEPT_HOURS, unit: 'hours' },
    { what: 'endpoint_secrets', value: SECRET_OVERLAP_HOURS, unit: 'hours' },
  ] as const satisfies readonly Kept[];

export const retentionProcedures = router({
  /** How long what is kept, and what of it the project decides. */
  read: projectProcedure.query(({ ctx: { deps }, input: { projectId } }) =>
    inProject(deps, projectId, async (scope) => {
      const settings = await readRetention(scope);
      return { items: [...listKept(deps.config, settings)], settings };
    }),
  ),

  /** Changes how long the project keeps its data. */
  change: ownerProcedure
    .input(z.object(RetentionChange.shape))
    .mutation(({ ctx: { deps }, input: { projectId, ...settings } }) =>
      inProject(deps, projectId, (scope) => changeRetention(scope, settings)),
    ),
});
