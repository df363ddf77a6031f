--! Previous: sha1:4979028f127d1e9716d7ebd8c742822d8ccfd515
--! Hash: sha1:adea261952ae93efb57e1d8bae964b6100feb77c
--! Message: sweeper_reads_turns_of_runs

-- The sweeper looks for due runs from project to project, by the index of their turns.
grant select (goes_first, source) on automations.runs to trunkline_queue;
