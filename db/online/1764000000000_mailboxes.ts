import type { MigrationBuilder } from 'node-pg-migrate';

/** Finds the sends to one mailbox, where that is not the address itself or a limit counts them per mailbox. */
export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  // A build that was cut off leaves an invalid index under this name.
  pgm.sql('drop index concurrently if exists delivery.sends_by_mailbox');
  pgm.sql(`
    create index concurrently sends_by_mailbox on delivery.sends (mailbox_key, project_id, send_id)
    where mailbox_key is not null
  `);
};

export const down = false;
