--! Previous: sha1:04dd0df78bea0c47e05b96848164301191f03ae9
--! Hash: sha1:594550b006f065f0680cca6b8ac80efa558c7de8
--! Message: notes_of_ended_sends_wait_alone

-- A note of ended sends that cannot be observed waits, and stops nobody else.
alter table delivery.ended
  add column if not exists failure_count integer not null default 0,
  add column if not exists retry_at timestamptz(3);
select base.declare_columns('delivery.ended', '{}', '{}', '{failure_count, retry_at}');
create index if not exists ended_new on delivery.ended (project_id, step_id) where retry_at is null;
create index if not exists ended_again on delivery.ended (project_id, retry_at, step_id) where retry_at is not null;
grant select (retry_at) on delivery.ended to trunkline_queue;
--! Included delivery/claim_ended.sql
-- Takes the oldest notes of ended sends that are due and nobody else is working on, until the transaction ends.
--
-- Those that were not tried yet, in the order of their ids, which is that of time; and those whose time has come to be
-- tried again, the longest due first, which have what the others leave free, and half at least. As for flushes
-- (ingest.claim_flushes) each kind has an index of its own and no other way to its order is left to the planner.
create or replace function delivery.claim_ended(project_id uuid, notes_max integer)
returns table (step_id uuid, send_ids uuid[], ended_at timestamptz)
language plpgsql volatile
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
as $$
declare
  v_again uuid[];
  v_new   uuid[];
begin
  v_again := array(
    select note.step_id from delivery.ended as note
    where note.project_id = claim_ended.project_id and note.retry_at <= statement_timestamp()
    order by note.retry_at, note.step_id
    limit (claim_ended.notes_max + 1) / 2
    for update skip locked
  );
  v_new := array(
    select note.step_id from delivery.ended as note
    where note.project_id = claim_ended.project_id and note.retry_at is null
    order by note.step_id
    limit claim_ended.notes_max - cardinality(v_again)
    for update skip locked
  );
  return query
  select note.step_id, note.send_ids, note.ended_at
  from unnest(v_again || v_new) as claimed (step_id)
  cross join lateral (
    select found.step_id, found.send_ids, found.ended_at from delivery.ended as found
    where found.project_id = claim_ended.project_id and found.step_id = claimed.step_id
    limit 1
  ) as note;
end;
$$;
--! EndIncluded delivery/claim_ended.sql
