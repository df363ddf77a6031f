import type { MigrationBuilder } from 'node-pg-migrate';

/**
 * Most links stand and were made by identify: lists of them are read down the log. The others are few, and lists of
 * them would read all of it to find some; they have indexes that hold nothing else, so most links cost nothing more.
 */
const INDEXES = {
  links_by_status: "(project_id, status, link_id) where status <> 'active'",
  links_by_source: "(project_id, source, link_id) where source <> 'identify'",
};

export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  for (const [name, parts] of Object.entries(INDEXES)) {
    // What a build that was cut off left behind serves nobody, and would be taken for the index.
    pgm.sql(`drop index concurrently if exists identity.${name}`);
    pgm.sql(`create index concurrently ${name} on identity.links ${parts}`);
  }
};

export const down = false;
