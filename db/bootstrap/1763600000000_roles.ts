import type { MigrationBuilder } from 'node-pg-migrate';

/**
 * The roles the service works under. Roles belong to the cluster, not to the database, so another
 * database of the same cluster may have made them already.
 *
 * - trunkline_runtime: every request and every job. Owns nothing and sees one project at a time.
 * - trunkline_queue: owns the job queue; may look across projects for work, at ids and times only.
 *
 * Log-in and passwords are set by `src/runtime/migrate.ts` at each run, because they follow from MASTER_KEY.
 */
export const up = (pgm: MigrationBuilder): void => {
  for (const role of ['trunkline_runtime', 'trunkline_queue']) {
    pgm.sql(`
      do $$ begin
        create role ${role} nosuperuser nocreatedb nocreaterole noinherit nobypassrls;
      exception when duplicate_object or unique_violation then null;
      end $$`);
  }
  pgm.sql('grant trunkline_queue to current_user');
};

export const down = false;
