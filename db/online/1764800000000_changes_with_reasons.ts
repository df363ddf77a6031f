import type { MigrationBuilder } from 'node-pg-migrate';

/** The pending notes of a person that say why the person changed. Most notes say nothing, and are not in it. */
export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  // A build that was interrupted leaves an invalid index under this name.
  pgm.sql('drop index concurrently if exists profiles.changes_with_reasons');
  pgm.sql(`create index concurrently changes_with_reasons on profiles.changes (project_id, profile_id)
    where reason is not null`);
};

export const down = false;
