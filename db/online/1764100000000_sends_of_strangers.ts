import type { MigrationBuilder } from 'node-pg-migrate';

/** Each index by its name, and what it is of. */
const INDEXES = {
  /** Finds the last day's email of browser-triggered runs to a mailbox, however many it got before. */
  sends_by_hand_off_to_mailbox: `(mailbox_key, project_id, handed_off_at)
    where mailbox_key is not null and handed_off_at is not null and limits ? 'browser_triggered'`,
  /** Finds the email that waits for the hourly budget, however much else is queued. */
  sends_waiting_for_budget: `(project_id, send_id)
    where status = 'queued' and status_reason = 'unconfirmed_budget'`,
};

export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  for (const [name, of] of Object.entries(INDEXES)) {
    // A build that was interrupted leaves an invalid index under this name.
    pgm.sql(`drop index concurrently if exists delivery.${name}`);
    pgm.sql(`create index concurrently ${name} on delivery.sends ${of}`);
  }
};

export const down = false;
