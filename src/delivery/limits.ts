import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { firstIdAt } from '../base/ids.ts';
import * as suppression from '../suppression/suppression.ts';
import { readSettings } from './settings.ts';

/** How many emails of one automation a mailbox gets, ever, whose address only a browser asserted. */
export const UNCONFIRMED_PER_AUTOMATION_MAX = 1;
/** How many emails of all automations it gets in 24 hours. */
export const UNCONFIRMED_PER_DAY_MAX = 3;

const HOURS_24_MS = 86_400_000;

/** The limits of a send that its hand-off checks, besides whether its address may get email (`limit_hand_offs`). */
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
  /** How much an address gets that only a browser asserted, unless a server has confirmed it by then. */
  unconfirmed?: { per_automation: number; per_day: number };
  /** That no server started its run: the cap per recipient counts it. */
  browser_triggered?: true;
  /** Of people who have no time zone of their own. */
  zone: string;
};

/** What an address gets that only a browser asserted. */
export const UNCONFIRMED = {
  per_automation: UNCONFIRMED_PER_AUTOMATION_MAX,
  per_day: UNCONFIRMED_PER_DAY_MAX,
};

const isCounted = sql.fragment`
  status not in ('suppressed', 'cancelled', 'expired', 'failed_render', 'rejected', 'not_sent') and not is_test
`;

const Mailed = z.strictObject({ per_automation: z.int(), per_day: z.int() });
/** How many emails a mailbox was to get: of one automation, and of all in the last 24 hours. */
export type Mailed = z.output<typeof Mailed>;

const keysOf = (scope: Scope, emails: readonly string[]) =>
  sql.array(
    emails.map((email) => suppression.mailboxKey(scope, email)),
    'bytea',
  );

/** Counts the emails that each mailbox of some addresses was to get by now, without stopped ones and tests. */
export const countMailed = async (
  scope: Scope,
  asked: readonly { email: string; automationId: string }[],
  now: Date,
): Promise<readonly Mailed[]> => {
  const { tx, projectId } = scope;
  const since = sql.timestamp(new Date(now.getTime() - HOURS_24_MS));
  const keys = keysOf(
    scope,
    asked.map(({ email }) => email),
  );
  const automationIds = sql.array(
    asked.map(({ automationId }) => automationId),
    'uuid',
  );
  return tx.any(sql.type(Mailed)`
    select mailed.per_automation, mailed.per_day
    from unnest(${keys}, ${automationIds}) with ordinality as asked (mailbox_key, automation_id, place)
    cross join lateral (
      select count(*) filter (where counted.automation_id = asked.automation_id) as per_automation,
        count(*) filter (where counted.queued_at > ${since}) as per_day
      from (
        select known.automation_id, known.queued_at from delivery.sends as known
        where known.project_id = ${projectId} and known.address_key = asked.mailbox_key and ${isCounted}
        union all
        select known.automation_id, known.queued_at from delivery.sends as known
        where known.project_id = ${projectId} and known.mailbox_key = asked.mailbox_key
        and known.address_key <> asked.mailbox_key and ${isCounted}
      ) as counted
    ) as mailed
    order by asked.place
  `);
};

/** Whether that is as much as an address gets that only a browser asserted. */
export const isMost = ({ per_automation, per_day }: Mailed): boolean =>
  per_automation >= UNCONFIRMED_PER_AUTOMATION_MAX || per_day >= UNCONFIRMED_PER_DAY_MAX;

/**
 * How many emails that runs planned which no server started may be stopped in 24 hours, of one mailbox. Each leaves a
 * row, also where the address is suppressed: past this no more are planned.
 */
export const STOPPED_PER_RECIPIENT_MAX = 20;

const Sent = z.strictObject({ sent: z.int(), stopped: z.int() });

/** How many emails a mailbox was to get in 24 hours of runs that no server started, and how many it may. */
export type OfRecipient = { sent: number; max: number };

/**
 * Counts the emails to the mailbox of each address that runs planned which no server started. A mailbox with too many
 * stopped ones has had as many as it may.
 */
export const countOfRecipients = async (
  scope: Scope,
  emails: readonly string[],
  now: Date,
): Promise<OfRecipient[]> => {
  const { tx, projectId } = scope;
  const since = new Date(now.getTime() - HOURS_24_MS);
  const counts = await tx.any(sql.type(Sent)`
    select counted.sent, counted.stopped
    from unnest(${keysOf(scope, emails)}) with ordinality as asked (mailbox_key, place)
    cross join lateral (
      select count(*) filter (where ${isCounted}) as sent, count(*) filter (where not (${isCounted})) as stopped
      from delivery.sends as known
      where known.project_id = ${projectId} and known.mailbox_key = asked.mailbox_key
      and known.send_id >= ${firstIdAt(since)} and known.limits ? 'browser_triggered'
      and known.queued_at > ${sql.timestamp(since)} and not known.is_test
    ) as counted
    order by asked.place
  `);
  const { recipient_sends_max: max } = await readSettings(scope);
  return counts.map(({ sent, stopped }) => ({
    sent: stopped < STOPPED_PER_RECIPIENT_MAX ? sent : Math.max(sent, max),
    max,
  }));
};
