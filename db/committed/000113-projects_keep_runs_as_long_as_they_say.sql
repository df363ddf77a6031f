--! Previous: sha1:90b2f6329397b4022565d36c05da487d778a9ac3
--! Hash: sha1:67b0e8144990c7b0b89b721f490926e79634c49e
--! Message: projects_keep_runs_as_long_as_they_say

-- Enter migration here


-- How long a project keeps runs that ended, and anonymous people without events; null: as long as events.
alter table delivery.settings add column if not exists runs_months integer;
alter table delivery.settings add column if not exists anonymous_months integer;
alter table delivery.settings drop constraint if exists settings_runs_months_are_bounded;
alter table delivery.settings add constraint settings_runs_months_are_bounded
  check (runs_months between 2 and 120) not valid;
alter table delivery.settings drop constraint if exists settings_anonymous_months_are_bounded;
alter table delivery.settings add constraint settings_anonymous_months_are_bounded
  check (anonymous_months between 2 and 120) not valid;
select base.declare_columns('delivery.settings', '{}', '{}', '{runs_months,anonymous_months}');
