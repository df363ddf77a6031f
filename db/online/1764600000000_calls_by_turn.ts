import type { MigrationBuilder } from 'node-pg-migrate';

/** Open calls of an endpoint by their turn: those of servers, and those of pages. */
export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  // A build that was interrupted leaves an invalid index under this name.
  pgm.sql('drop index concurrently if exists automations.calls_by_turn');
  pgm.sql(`create index concurrently calls_by_turn on automations.calls
    (project_id, endpoint_id, is_of_page, queued_at) where status in ('queued', 'calling')`);
  pgm.sql('drop index concurrently if exists automations.calls_open');
};

export const down = false;
