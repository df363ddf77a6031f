--! Previous: sha1:09e9d69ba3c2e94f62ec2d360257ad4998a7f6b5
--! Hash: sha1:acefe2876cf697fd53c97f92d26a408df371ec67
--! Message: work_waits_by_project

-- What waits for its next try costs neither a claim nor a sweep anything.
--
-- A new flush is still one entry beside its key: by project now, so that a claim walks past nothing that was postponed.
-- What was postponed is in two more indexes, which new flushes never touch.
create index if not exists pending_by_project on ingest.pending (project_id, flush_id) where retry_at is null;
drop index if exists ingest.pending_by_arrival;
create index if not exists pending_by_project_and_retry on ingest.pending (project_id, retry_at, flush_id)
  where retry_at is not null;
grant select (flush_id) on ingest.pending to trunkline_queue;

-- Two reads instead of one.
--! Included ingest/claim_flushes.sql
-- Takes the oldest flushes that are due and nobody else is working on, until the transaction ends.
--
-- There are two kinds: those that were not tried yet, in the order of their ids, which is that of time; and those
-- whose time has come to be tried again (ingest.pending.retry_at), the longest due first. Each kind is sure of half
-- and has what the other leaves free, so that neither holds up the other. Each has an index that holds nothing
-- else, and the planner is left no other way to their order: however many are postponed, and whatever the
-- statistics say of that, a claim reads no more than it takes.
create or replace function ingest.claim_flushes(project_id uuid, flushes_max integer)
returns setof uuid
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
  v_more  uuid[];
begin
  v_again := array(
    select pending.flush_id from ingest.pending
    where pending.project_id = claim_flushes.project_id and pending.retry_at <= statement_timestamp()
    order by pending.retry_at, pending.flush_id
    limit claim_flushes.flushes_max / 2
    for update skip locked
  );
  v_new := array(
    select pending.flush_id from ingest.pending
    where pending.project_id = claim_flushes.project_id and pending.retry_at is null
    order by pending.flush_id
    limit claim_flushes.flushes_max - cardinality(v_again)
    for update skip locked
  );
  v_more := array(
    select pending.flush_id from ingest.pending
    where pending.project_id = claim_flushes.project_id and pending.retry_at <= statement_timestamp()
    and pending.flush_id <> all (v_again)
    order by pending.retry_at, pending.flush_id
    limit claim_flushes.flushes_max - cardinality(v_again) - cardinality(v_new)
    for update skip locked
  );
  return query select claimed.flush_id from unnest(v_again || v_new || v_more) as claimed (flush_id) order by 1;
end;
$$;
--! EndIncluded ingest/claim_flushes.sql

-- Who comes second goes on with the next month.
--! Included ingest/drop_partition.sql
-- Drops the oldest month of the timeline that ends before a moment; answers its name, or null when there is none.
--
-- One month a call, so that the lock on the timeline is given back in between. It is needed for
-- some milliseconds of work in the catalogue; the files go when it is free again. Everybody queues
-- up behind who waits for it, so nobody waits for it longer than this: the job asks again later.
--
-- Two who drop one month at once are not a case that Postgres takes well: who comes second finds no such table, or
-- a partition without a parent, which is an internal error. When the month is gone it goes on with the next.
create or replace function ingest.drop_partition(before timestamptz)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '200ms'
as $$
declare
  v_name text;
begin
  if drop_partition.before > now() - interval '1 month' then
    raise exception 'only months that are over for a month can go';
  end if;
  select expired.name into v_name
  from ingest.expired_partitions(before => drop_partition.before) as expired
  limit 1;
  if v_name is not null then
    execute format('drop table ingest.%I', v_name);
  end if;
  return v_name;
exception when undefined_table or internal_error then
  if v_name in (select expired.name from ingest.expired_partitions(before => drop_partition.before) as expired) then
    raise;
  end if;
  return ingest.drop_partition(before => drop_partition.before);
end;
$$;

revoke all on function ingest.drop_partition(timestamptz) from public;
grant execute on function ingest.drop_partition(timestamptz) to trunkline_queue;
--! EndIncluded ingest/drop_partition.sql
