import type { MigrationBuilder } from 'node-pg-migrate';

/**
 * trunkline_analyst: the group of all analysts' logins. It cannot log in itself, owns nothing and may read the
 * views of schema `analytics`. Logins are made by `make analyst`, one project each.
 */
export const up = (pgm: MigrationBuilder): void => {
  pgm.sql(`
    do $$ begin
      create role trunkline_analyst nologin nosuperuser nocreatedb nocreaterole noinherit nobypassrls;
    exception when duplicate_object or unique_violation then null;
    end $$`);
};

export const down = false;
