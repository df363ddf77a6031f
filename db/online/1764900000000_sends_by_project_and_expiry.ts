import type { MigrationBuilder } from 'node-pg-migrate';

/** The queued email of a project in the order in which it expires. It takes the place of an index over all projects. */
export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  // A build that was interrupted leaves an invalid index under this name.
  pgm.sql('drop index concurrently if exists delivery.sends_by_project_and_expiry');
  pgm.sql(`create index concurrently sends_by_project_and_expiry on delivery.sends (project_id, expires_at)
    where status = 'queued'`);
  pgm.sql('drop index concurrently if exists delivery.sends_by_expiry');
};

export const down = false;
