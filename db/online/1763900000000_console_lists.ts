import type { MigrationBuilder } from 'node-pg-migrate';

/**
 * What pages of the Console ask of tables that grow. Who is inside an automation is counted where they are, however
 * many came before them; and what somebody did of one kind is found, however much they and others did of others.
 */
const INDEXES = [
  {
    name: 'runs_inside',
    schema: 'automations',
    on: `runs (project_id, automation_id, version, step_id) where status in ('active', 'paused') and not is_test`,
  },
  {
    name: 'audit_by_actor_and_action',
    schema: 'admin',
    on: 'audit (project_id, actor_id, action, audit_id)',
  },
];

export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  for (const { name, schema, on } of INDEXES) {
    // What a build that was cut off left behind serves nobody, and would be taken for the index.
    pgm.sql(`drop index concurrently if exists ${schema}.${name}`);
    pgm.sql(`create index concurrently ${name} on ${schema}.${on}`);
  }
};

export const down = false;
