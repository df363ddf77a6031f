--! Previous: sha1:a60318999728e3e324e9627bf34435a89a299d47
--! Hash: sha1:20ae2b185ca9189d655f2ace22eef2711c825de8
--! Message: nothing_is_sent_after_a_restore

-- base: whether anything may leave the house --------------------------------------------------------
-- One row. After a backup was restored it names another database: nothing is sent until somebody says so.

create table if not exists base.sending (
  is_only         boolean primary key default true,
  home            text not null,
  counts_timeline boolean not null default true,
  held_at         timestamptz(3),
  restored_at     timestamptz(3),
  resumed_at      timestamptz(3),
  constraint sending_is_one_row check (is_only),
  constraint sending_is_restored_whole check (num_nulls(restored_at, resumed_at) in (0, 2))
);
select base.declare_columns('base.sending', of_person => '{}', keyed => '{}',
  others => '{is_only, home, counts_timeline, held_at, restored_at, resumed_at}');
grant select, update on base.sending to trunkline_runtime;
grant usage on schema base to trunkline_queue;
grant select on base.sending to trunkline_queue;

--! Included base/sending_home.sql
-- Which database this is. A dump that is restored elsewhere, into another database or over this one makes another
-- of it, and so does going on from a moment before the end of the log: that begins a new timeline of Postgres,
-- which a failover to a standby does, too. Where failovers lose nothing, the timeline does not count.
create or replace function base.sending_home(counts_timeline boolean)
returns text
language sql stable
as $$
  select concat_ws('/',
    (select control.system_identifier from pg_catalog.pg_control_system() as control),
    (select known.oid from pg_catalog.pg_database as known where known.datname = pg_catalog.current_database()),
    'base.sending'::pg_catalog.regclass::pg_catalog.oid,
    case when sending_home.counts_timeline
      then left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8)
    end
  );
$$;
--! EndIncluded base/sending_home.sql
--! Included base/is_sending_held.sql
-- Whether nothing may leave the house: somebody said so, or this is not the database any more that was said to be
-- the one that sends. Asked by whoever claims what is to be sent.
create or replace function base.is_sending_held()
returns boolean
language sql stable
as $$
  select coalesce((
    select sending.held_at is not null or sending.home <> base.sending_home(sending.counts_timeline)
    from base.sending
  ), true);
$$;
--! EndIncluded base/is_sending_held.sql
--! Included base/restored_before.sql
-- When a backup was restored, of what was due before somebody said that sending goes on; null of anything else. What
-- was known by then may have been done in the time that the backup does not know of.
create or replace function base.restored_before(due_at timestamptz)
returns timestamptz
language sql stable
as $$
  select sending.restored_at from base.sending where restored_before.due_at < sending.resumed_at;
$$;
--! EndIncluded base/restored_before.sql

insert into base.sending (home) values (base.sending_home(true)) on conflict do nothing;

--! Included delivery/claim_sends.sql
-- Leases the sends of one provider that are due, so that workers do not prepare the same ones.
--
-- A lease only saves work: what may be handed off is decided by begin_hand_offs. It runs out by the
-- database's clock when its owner dies. Nothing is leased while sending is held.
create or replace function delivery.claim_sends(
  project_id  uuid,
  provider_id uuid,
  owner       text,
  sends_max   integer,
  lease_for   interval
)
returns table (
  send_id           uuid,
  profile_id        uuid,
  template_id       uuid,
  template_version  integer,
  event_id          uuid,
  event_occurred_at timestamptz,
  address_key       bytea,
  recipient         text,
  automation_id     uuid,
  category          text,
  attempt           integer
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ids uuid[];
begin
  if base.is_sending_held() then
    return;
  end if;

  select array_agg(due.send_id)
  into v_ids
  from (
    select send.send_id
    from delivery.sends as send
    where send.project_id = claim_sends.project_id
    and send.provider_id = claim_sends.provider_id
    and send.status = 'queued'
    and send.due_at <= v_now
    and send.expires_at > v_now
    and (send.lease_until is null or send.lease_until < v_now)
    order by send.due_at, send.send_id
    limit claim_sends.sends_max
    for update skip locked
  ) as due;

  return query
  update delivery.sends as send
  set lease_owner = claim_sends.owner, lease_until = v_now + claim_sends.lease_for
  where send.project_id = claim_sends.project_id
  and send.send_id = any (v_ids)
  returning send.send_id, send.profile_id, send.template_id, send.template_version, send.event_id,
    send.event_occurred_at, send.address_key, send.recipient, send.automation_id, send.category,
    send.attempt_count + 1;
end;
$$;
--! EndIncluded delivery/claim_sends.sql
--! Included delivery/hold_restored.sql
-- Ends what waited when a backup was restored, and was due by then: it may have been handed over in the time that
-- the backup does not know of, so it is unknown, as a hand-off whose outcome nobody heard. What such a hand-off would
-- count is counted. Answers how many; who has more asks again.
create or replace function delivery.hold_restored(
  project_id   uuid,
  restored_at  timestamptz,
  resend_after interval,
  sends_max    integer
)
returns integer
language plpgsql volatile
set search_path = ''
as $$
declare
  v_count integer;
begin
  update delivery.sends as send
  set status = 'unknown',
    status_reason = 'restored',
    attempt_count = send.attempt_count + 1,
    handed_off_at = greatest(send.queued_at, least(send.due_at, hold_restored.restored_at)),
    due_at = clock_timestamp() + hold_restored.resend_after,
    lease_owner = null,
    lease_until = null
  where send.project_id = hold_restored.project_id
  and send.send_id = any (array(
    select waiting.send_id
    from delivery.sends as waiting
    where waiting.project_id = hold_restored.project_id
    and waiting.status = 'queued'
    and waiting.queued_at < hold_restored.restored_at
    and (waiting.due_at < hold_restored.restored_at or waiting.status_reason = 'ramp')
    order by waiting.send_id
    limit hold_restored.sends_max
    for update
  ));
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
--! EndIncluded delivery/hold_restored.sql
