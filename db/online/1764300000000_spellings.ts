import type { MigrationBuilder } from 'node-pg-migrate';

/** Finds the newest email that was handed over to a mailbox, in whatever spelling, and that of the last day. */
const INDEX = 'sends_handed_off_to_mailbox';

export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  // A build that was interrupted leaves an invalid index under this name.
  pgm.sql(`drop index concurrently if exists delivery.${INDEX}`);
  pgm.sql(`create index concurrently ${INDEX} on delivery.sends (mailbox_key, project_id, handed_off_at)
    where mailbox_key is not null and handed_off_at is not null`);
  // It held the same email of browser-triggered runs alone.
  pgm.sql('drop index concurrently if exists delivery.sends_by_hand_off_to_mailbox');
};

export const down = false;
