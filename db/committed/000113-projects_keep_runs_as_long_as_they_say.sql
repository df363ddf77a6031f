--! Previous: sha1:ba01cedad82b8fc211df2dff942deede1cac4400
--! Hash: sha1:3d7a292f41983d11e045e31cbebcc1f76018889d
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
