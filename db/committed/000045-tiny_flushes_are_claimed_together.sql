--! Previous: sha1:bbf63252a6fe9e9b21d0ee1268a3f4a30b7f2ba0
--! Hash: sha1:60f07c0d82db150484e9596b2564242160ec3539
--! Message: tiny_flushes_are_claimed_together

-- Enter migration here
drop function if exists ingest.claim_flushes(uuid, integer);
--! Included ingest/claim_flushes.sql
-- Takes the oldest flushes that are due and nobody else is working on, until the transaction ends: at most so many,
-- and no further one once they hold so many events. Flushes are as large as a project is busy, and what one
-- transaction costs by itself is shared by many small ones.
--
-- There are two kinds: those that were not tried yet, in the order of their ids, which is that of time; and those
-- whose time has come to be tried again (ingest.pending.retry_at), the longest due first. Each kind is sure of half
-- and has what the other leaves free, so that neither holds up the other. Each has an index that holds nothing
-- else, and the planner is left no other way to their order: however many are postponed, and whatever the
-- statistics say of that, a claim reads no more than it takes.
create or replace function ingest.claim_flushes(project_id uuid, flushes_max integer, events_max integer default 5000)
returns setof uuid
language plpgsql volatile
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
as $$
declare
  v_flushes  refcursor;
  v_flush_id uuid;
  v_events   integer;
  v_ids      uuid[] := '{}';
  v_left     integer := claim_flushes.events_max;
begin
  for v_turn in 1 .. 3 loop
    if v_turn = 2 then
      open v_flushes for
      select pending.flush_id, cardinality(pending.event_ids) from ingest.pending
      where pending.project_id = claim_flushes.project_id and pending.retry_at is null
      order by pending.flush_id
      limit claim_flushes.flushes_max - cardinality(v_ids)
      for update skip locked;
    else
      open v_flushes for
      select pending.flush_id, cardinality(pending.event_ids) from ingest.pending
      where pending.project_id = claim_flushes.project_id and pending.retry_at <= statement_timestamp()
      and pending.flush_id <> all (v_ids)
      order by pending.retry_at, pending.flush_id
      limit case v_turn
        when 1 then claim_flushes.flushes_max / 2
        else claim_flushes.flushes_max - cardinality(v_ids)
      end
      for update skip locked;
    end if;
    -- One by one: what was read is locked, and whoever else looks passes it over.
    while v_left > 0 loop
      fetch v_flushes into v_flush_id, v_events;
      exit when not found;
      v_ids := v_ids || v_flush_id;
      v_left := v_left - v_events;
    end loop;
    close v_flushes;
  end loop;
  return query select claimed.flush_id from unnest(v_ids) as claimed (flush_id) order by 1;
end;
$$;
--! EndIncluded ingest/claim_flushes.sql
