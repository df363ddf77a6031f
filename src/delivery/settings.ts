import { z } from 'zod';
import { inProject, sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { giveHints } from '../base/hints.ts';
import { sendHint } from './send_hint.ts';

/** How many emails in 24 hours a project may allow one recipient from runs that no server started. */
export const RECIPIENT_SENDS_MAX = 100;
/** How many emails an hour a project may allow to unconfirmed addresses. */
export const UNCONFIRMED_SENDS_MAX = 100_000;
/** How many sends that wait for the hourly budget go on at once when it changes; others at the time they wait for. */
const RELEASED_SENDS_MAX = 10_000;

const Settings = z.strictObject({ recipient_sends_max: z.int(), unconfirmed_sends_max: z.int() });

/** The limits of a project for email that strangers could cause. */
export const SendingSettings = z.strictObject({
  recipient_sends_max: z
    .int()
    .min(1)
    .max(RECIPIENT_SENDS_MAX, `at most ${RECIPIENT_SENDS_MAX}`)
    .meta({
      description:
        'How many emails one recipient gets in 24 hours from browser-triggered runs. A run is browser-triggered ' +
        'unless an event or a change of a server started it. All addresses of a mailbox count together. ' +
        'Trunkline skips email above this number.',
    }),
  unconfirmed_sends_max: z
    .int()
    .min(0)
    .max(UNCONFIRMED_SENDS_MAX, `at most ${UNCONFIRMED_SENDS_MAX}`)
    .meta({
      description:
        'How many emails the project sends in an hour to addresses that only browsers asserted. ' +
        'Email above this number waits for the next hour.',
    }),
});
export type SendingSettings = z.output<typeof SendingSettings>;

/** Returns the settings of a project; the defaults are in `delivery.read_settings`. */
export const readSettings = ({ tx, projectId }: Scope): Promise<SendingSettings> =>
  tx.one(sql.type(Settings)`
    select recipient_sends_max, unconfirmed_sends_max from delivery.read_settings(${projectId})
  `);

const Released = z.strictObject({ provider_id: z.uuid() });

/**
 * Changes settings of a project, and lets what waits for the hourly budget be judged by the new one. Returns the
 * providers of what is due by that.
 */
export const writeSettings = async (
  scope: Scope,
  settings: SendingSettings,
): Promise<Set<string>> => {
  const { tx, projectId } = scope;
  await tx.query(sql.unsafe`
    insert into delivery.settings (project_id, recipient_sends_max, unconfirmed_sends_max)
    values (${projectId}, ${settings.recipient_sends_max}, ${settings.unconfirmed_sends_max})
    on conflict (project_id) do update
    set recipient_sends_max = excluded.recipient_sends_max, unconfirmed_sends_max = excluded.unconfirmed_sends_max
  `);
  await tx.query(sql.unsafe`
    update delivery.unconfirmed_budgets set parked_at = null, parked = 0 where project_id = ${projectId}
  `);
  const released = await tx.any(sql.type(Released)`
    update delivery.sends set due_at = queued_at
    where project_id = ${projectId} and send_id = any (array(
      select send_id from delivery.sends
      where project_id = ${projectId} and status = 'queued' and status_reason = 'unconfirmed_budget'
      order by send_id
      limit ${RELEASED_SENDS_MAX}
      for update
    ))
    returning provider_id
  `);
  return new Set(released.map(({ provider_id }) => provider_id));
};

/** Changes how much email strangers can cause; returns the new limits. */
export const changeSendingLimits = async (
  deps: Deps,
  projectId: string,
  settings: SendingSettings,
): Promise<SendingSettings> => {
  const providerIds = await inProject(deps, projectId, (scope) => writeSettings(scope, settings));
  await giveHints(
    deps,
    [...providerIds].map((id) => sendHint(projectId, id)),
  );
  return settings;
};
