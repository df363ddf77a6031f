--! Previous: sha1:00380da994d9f1998e11d357a58605d377fb29e4
--! Hash: sha1:abf9934f56964f14f29182768cd68f3014bf7c08
--! Message: runs_stay_for_a_day

-- Enter migration here

-- Processes of the release before do not read enrollments: while they may run, no run is removed.
alter table base.sending add column if not exists runs_prunable_from timestamptz(3) not null
  default now() + interval '1 day';
select base.declare_columns('base.sending', '{}', '{}', '{runs_prunable_from}');
