import type { MigrationBuilder } from 'node-pg-migrate';

/** Due runs of a project by their turn: those that an event has just started or woken, and the others. */
export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  // A build that was interrupted leaves an invalid index under this name.
  pgm.sql('drop index concurrently if exists automations.runs_by_turn');
  pgm.sql(`create index concurrently runs_by_turn on automations.runs (project_id, goes_first, wake_at)
    where status = 'active'`);
  pgm.sql('drop index concurrently if exists automations.runs_due');
};

export const down = false;
