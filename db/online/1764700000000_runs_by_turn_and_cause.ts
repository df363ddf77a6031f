import type { MigrationBuilder } from 'node-pg-migrate';

/** Due runs of a project by their turn, and by whether an event of a page caused them. */
export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  // A build that was interrupted leaves an invalid index under this name.
  pgm.sql('drop index concurrently if exists automations.runs_by_turn_and_cause');
  pgm.sql(`create index concurrently runs_by_turn_and_cause
    on automations.runs (project_id, goes_first, (coalesce(source = 'browser', false)), wake_at)
    where status = 'active'`);
  pgm.sql('drop index concurrently if exists automations.runs_by_turn');
};

export const down = false;
