import type { MigrationBuilder } from 'node-pg-migrate';

/** Constraints that the migration before added to rows that were there. */
const CONSTRAINTS = [
  'links_reason_is_known',
  'links_replaced_were_undone_by_a_link',
  'links_confirmed_are_a_browsers',
];

/** A browser may link a bounded number of anonymous ids to a person a day: the last day is read, not all links. */
export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  // A build that was interrupted leaves an invalid index under this name.
  pgm.sql('drop index concurrently if exists identity.links_of_browsers');
  pgm.sql(`create index concurrently links_of_browsers on identity.links
    (project_id, external_identity_id, created_at) where key_type = 'publishable'`);
  for (const name of CONSTRAINTS) pgm.sql(`alter table identity.links validate constraint ${name}`);
};

export const down = false;
