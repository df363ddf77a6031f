import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import * as suppression from '../suppression/suppression.ts';

/** How many mails of one automation an address gets, ever, that only a browser has said. */
export const UNCONFIRMED_PER_AUTOMATION_MAX = 1;
/** How many mails of all automations it gets in 24 hours. */
export const UNCONFIRMED_PER_DAY_MAX = 3;

const HOURS_24_MS = 86_400_000;

/** What is asked of a send when it is handed over, besides whether its address may be mailed (`limit_hand_offs`). */
export type Limits = {
  /** By the clock of the person. */
  quiet_hours?: { from: string; to: string };
  /** `per` is an ISO 8601 duration. */
  frequency_cap?: {
    sends: number;
    per: string;
    of: 'automation' | 'project';
    over: 'defer' | 'skip';
  };
  /** How much it is of an address that only a browser has said, unless a server has by then. */
  unconfirmed?: { per_automation: number; per_day: number };
  /** Of people who have no time zone of their own. */
  zone: string;
};

/** What an address gets that only a browser has said. */
export const UNCONFIRMED = {
  per_automation: UNCONFIRMED_PER_AUTOMATION_MAX,
  per_day: UNCONFIRMED_PER_DAY_MAX,
};

const Mailed = z.strictObject({ per_automation: z.int(), per_day: z.int() });
/** How many mails an address was to get: of one automation, and of all in the last 24 hours. */
export type Mailed = z.output<typeof Mailed>;

/** What an address was to get by now; not what was stopped, nor mail of tests. */
export const countMailed = (
  scope: Scope,
  email: string,
  { automationId, now }: { automationId: string; now: Date },
): Promise<Mailed> => {
  const { tx, projectId } = scope;
  const since = new Date(now.getTime() - HOURS_24_MS);
  return tx.one(sql.type(Mailed)`
    select count(*) filter (where automation_id = ${automationId}) as per_automation,
      count(*) filter (where queued_at > ${sql.timestamp(since)}) as per_day
    from delivery.sends
    where project_id = ${projectId} and address_key = ${sql.binary(suppression.addressKey(scope, email))}
    and status not in ('suppressed', 'cancelled', 'expired', 'failed_render', 'rejected', 'not_sent')
    and not is_test
  `);
};

/** Whether that is as much as an address gets that only a browser has said. */
export const isMost = ({ per_automation, per_day }: Mailed): boolean =>
  per_automation >= UNCONFIRMED_PER_AUTOMATION_MAX || per_day >= UNCONFIRMED_PER_DAY_MAX;
