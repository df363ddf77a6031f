import type { MigrationBuilder } from 'node-pg-migrate';

/** Frozen runs and tests of an automation, so that a command finds the next of them at once. */
const INDEXES = [
  { name: 'runs_paused', where: `status = 'paused'` },
  { name: 'runs_in_test', where: `status in ('active', 'paused') and is_test` },
];

export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  for (const { name, where } of INDEXES) {
    // A build that was interrupted leaves an invalid index under this name.
    pgm.sql(`drop index concurrently if exists automations.${name}`);
    pgm.sql(`create index concurrently ${name} on automations.runs (project_id, automation_id, run_id)
      where ${where}`);
  }
};

export const down = false;
