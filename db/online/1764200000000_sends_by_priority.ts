import type { MigrationBuilder } from 'node-pg-migrate';

export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  // A build that was interrupted leaves an invalid index under this name.
  pgm.sql('drop index concurrently if exists delivery.sends_to_claim');
  pgm.sql(`create index concurrently sends_to_claim
    on delivery.sends (provider_id, project_id, priority, automation_id, due_at, send_id)
    where status = 'queued'`);
  pgm.sql('drop index concurrently if exists delivery.sends_due');
};

export const down = false;
