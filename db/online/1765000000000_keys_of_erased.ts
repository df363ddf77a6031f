import type { MigrationBuilder } from 'node-pg-migrate';

/** How many runs one transaction reads. */
const PAGE_ROWS = 5_000;

/**
 * Replaces the entry keys of runs of people who were erased before: with `by_property` they have a digest of a value of
 * the person. An erase does that by now. A repetition finds nothing.
 */
export const up = (pgm: MigrationBuilder): void => {
  pgm.noTransaction();
  pgm.sql(`do $$
    declare
      v_project_id uuid;
      v_after      uuid;
      v_last       uuid;
    begin
      for v_project_id in select project_id from projects.projects order by project_id loop
        v_after := '00000000-0000-0000-0000-000000000000';
        loop
          perform set_config('trunkline.project_id', v_project_id::text, true);
          select max(page.run_id::text)::uuid into v_last
          from (
            select run_id from automations.runs where project_id = v_project_id and run_id > v_after
            order by run_id limit ${PAGE_ROWS}
          ) as page;
          exit when v_last is null;
          update automations.runs as run set entry_key = 'erased/' || run.run_id::text
          where run.project_id = v_project_id and run.run_id > v_after and run.run_id <= v_last
          and run.entry_key like 'property/%'
          and not exists (
            select from identity.identities as known
            where known.project_id = v_project_id and known.identity_id = run.identity_id
          );
          commit;
          v_after := v_last;
        end loop;
      end loop;
    end $$`);
};

export const down = false;
