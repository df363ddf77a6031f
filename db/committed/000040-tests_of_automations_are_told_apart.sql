--! Previous: sha1:20ae2b185ca9189d655f2ace22eef2711c825de8
--! Hash: sha1:70c8681d6505e4fd60ff49a8e3af8ff743170091
--! Message: tests_of_automations_are_told_apart

-- Whether a send is of a test of its automation, to an address that somebody chose: it counts for nobody.
alter table delivery.sends add column if not exists is_test boolean not null default false;
select base.declare_columns('delivery.sends', '{}', '{}', '{is_test}');
grant select (is_test) on delivery.sends to trunkline_analyst;

-- The rows of all projects, which row-level security keeps from the owner too while it is forced.
alter table automations.runs no force row level security;
alter table delivery.sends no force row level security;
update delivery.sends as send set is_test = true
from automations.runs as run
where run.is_test and run.project_id = send.project_id and run.run_id = send.run_id;
alter table automations.runs force row level security;
alter table delivery.sends force row level security;

-- Runs that wait for somebody to have them go on.
create index if not exists runs_failed on automations.runs (project_id, automation_id, run_id)
where status = 'failed';

-- The sweeper looks for starts of automations that are not paused.
select base.open_to_queue('automations.automations');
grant select (project_id, automation_id, status) on automations.automations to trunkline_queue;
grant select (automation_id) on automations.segment_starts to trunkline_queue;

drop function if exists delivery.plan_send(uuid, uuid, uuid, uuid, text, uuid, uuid, uuid, uuid, integer, uuid,
  timestamptz, bytea, text, interval, text, text, jsonb);
drop function if exists delivery.claim_sends(uuid, uuid, text, integer, interval);
drop function if exists delivery.limit_hand_offs(uuid, uuid[], text[]);

--! Included delivery/plan_send.sql
-- Makes the one send intent of a run's step, or answers with the one that is there.
--
-- The address row is made first: from here on suppression and hand-off have something to lock.
-- An address that must be left alone already is refused here, visibly; the hand-off asks again. The identity is
-- whom the run was started for: it may leave the profile when a link is undone, and is erased on its own then.
create or replace function delivery.plan_send(
  project_id        uuid,
  send_id           uuid,
  automation_id     uuid,
  run_id            uuid,
  step_id           text,
  identity_id       uuid,
  profile_id        uuid,
  provider_id       uuid,
  template_id       uuid,
  template_version  integer,
  event_id          uuid,
  event_occurred_at timestamptz,
  address_key       bytea,
  recipient         text,
  expires_after     interval,
  category          text,
  on_unknown        text default 'hold',
  limits            jsonb default null,
  is_test           boolean default false
)
returns table (planned_id uuid, planned_status text)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now     timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_stopped text;
begin
  perform suppression.know_address(plan_send.project_id, plan_send.address_key, plan_send.recipient);
  v_stopped := suppression.stops_mail(plan_send.project_id, plan_send.address_key, plan_send.category);

  insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, identity_id, profile_id,
    provider_id, template_id, template_version, event_id, event_occurred_at, address_key, recipient, category,
    status, status_reason, due_at, queued_at, expires_at, on_unknown, limits, is_test)
  values (plan_send.project_id, plan_send.send_id, plan_send.automation_id, plan_send.run_id, plan_send.step_id,
    plan_send.identity_id, plan_send.profile_id, plan_send.provider_id, plan_send.template_id,
    plan_send.template_version, plan_send.event_id, plan_send.event_occurred_at, plan_send.address_key,
    plan_send.recipient, plan_send.category, case when v_stopped is null then 'queued' else 'suppressed' end, v_stopped,
    v_now, v_now, v_now + plan_send.expires_after, plan_send.on_unknown,
    plan_send.limits, plan_send.is_test)
  on conflict on constraint sends_one_intent_per_step do nothing;

  return query
  select send.send_id, send.status
  from delivery.sends as send
  where send.project_id = plan_send.project_id
  and send.run_id = plan_send.run_id
  and send.step_id = plan_send.step_id;
end;
$$;
--! EndIncluded delivery/plan_send.sql
--! Included delivery/claim_sends.sql
-- Leases the sends of one provider that are due, so that workers do not prepare the same ones; and says of each whether
-- its limits may keep it by now: of one that was planned a moment ago they were asked then.
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
  attempt           integer,
  is_test           boolean,
  may_be_limited    boolean
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
    send.attempt_count + 1, send.is_test,
    send.limits is not null
      and (send.status_reason is not null or send.queued_at < v_now - interval '10 seconds');
end;
$$;
--! EndIncluded delivery/claim_sends.sql
--! Included delivery/capped_until.sql
-- When there is room for one more mail under a frequency cap, or null when there is now; and whether there is only if
-- what is under way comes to nothing.
--
-- What counts is what began to be handed over to any identity of the person and went out, or may have, but for this
-- send: each until so long after, by the calendar of the session's time zone. Mail of a test was to somebody else's
-- address and counts for nobody. Whoever asks holds the person.
create or replace function delivery.capped_until(
  project_id       uuid,
  send_id          uuid,
  automation_id    uuid,
  identity_ids     uuid[],
  cap              jsonb,
  at               timestamptz,
  out until        timestamptz,
  out is_under_way boolean
)
language plpgsql stable
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
begin
  select counted.settled[counted.sends_max],
    counted.settled[counted.sends_max] is null and counted.sends >= counted.sends_max
  into until, is_under_way
  from (
    select (capped_until.cap ->> 'sends')::integer as sends_max, count(*) as sends,
      array_agg(sent.counts_until order by sent.counts_until desc) filter (where sent.status <> 'handing_off')
        as settled
    from unnest(capped_until.identity_ids) as known (identity_id)
    cross join lateral (
      select found.status, found.handed_off_at + (capped_until.cap ->> 'per')::interval as counts_until
      from delivery.sends as found
      where found.project_id = capped_until.project_id
      and found.identity_id = known.identity_id
      and found.send_id <> capped_until.send_id
      and (capped_until.cap ->> 'of' = 'project' or found.automation_id = capped_until.automation_id)
      and found.handed_off_at is not null
      and not found.is_test
      and delivery.may_be_out(found.project_id, found.send_id, found.status)
      -- One identity after the other, whatever the planner takes the table for.
      offset 0
    ) as sent
    where sent.counts_until > capped_until.at
  ) as counted;
end;
$$;
--! EndIncluded delivery/capped_until.sql
--! Included delivery/had_most.sql
-- Whether an address has had as many mails as one may that only a browser has said: so many of one automation, ever,
-- and so many in 24 hours, but for this send; and whether it has only if what is under way comes to nothing.
--
-- What went out counts, or may have; mail of a test does not, whoever chose the address. Whoever asks holds the
-- address.
create or replace function delivery.had_most(
  project_id       uuid,
  send_id          uuid,
  automation_id    uuid,
  address_key      bytea,
  most             jsonb,
  at               timestamptz,
  out is_so        boolean,
  out is_under_way boolean
)
language plpgsql stable
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
begin
  select greatest(counted.settled - counted.per_automation, counted.settled_today - counted.per_day) >= 0,
    greatest(counted.settled - counted.per_automation, counted.settled_today - counted.per_day) < 0
      and greatest(counted.sends - counted.per_automation, counted.sends_today - counted.per_day) >= 0
  into is_so, is_under_way
  from (
    select (had_most.most ->> 'per_automation')::integer as per_automation,
      (had_most.most ->> 'per_day')::integer as per_day,
      count(*) filter (where sent.is_ours) as sends,
      count(*) filter (where sent.is_ours and sent.status <> 'handing_off') as settled,
      count(*) filter (where sent.is_today) as sends_today,
      count(*) filter (where sent.is_today and sent.status <> 'handing_off') as settled_today
    from (
      select found.status, found.automation_id = had_most.automation_id as is_ours,
        found.handed_off_at > had_most.at - interval '24 hours' as is_today
      from delivery.sends as found
      where found.project_id = had_most.project_id
      and found.address_key = had_most.address_key
      and found.send_id <> had_most.send_id
      and found.handed_off_at is not null
      and not found.is_test
      and delivery.may_be_out(found.project_id, found.send_id, found.status)
    ) as sent
  ) as counted;
end;
$$;
--! EndIncluded delivery/had_most.sql
--! Included delivery/limit_hand_offs.sql
-- Says which of some sends their limits keep from being handed over now: by place, why, and until when it waits, or
-- null where it is not sent at all. Nothing of those that something else stops, and of those that have no limits.
--
-- quiet_hours (where the person is), frequency_cap, unconfirmed_address (that only a browser has said). Whoever asks
-- holds people and addresses alone, so nobody else lets another through meanwhile. What is under way, also in the
-- same step, may come to nothing: where it decides, a mail waits a moment, until that is known. Those that are not
-- together are no step: each is asked of as if it were the only one.
create or replace function delivery.limit_hand_offs(
  project_id   uuid,
  send_ids     uuid[],
  stopped      text[],
  are_together boolean default true
)
returns table (place bigint, stop text, wait_until timestamptz)
language plpgsql volatile
set search_path = ''
set timezone = 'UTC'
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now    timestamptz := clock_timestamp();
  v_moment timestamptz := v_now + interval '10 seconds';
  v_people uuid[] := '{}';
  v_keys   bytea[] := '{}';
  v_send   record;
  v_cap    jsonb;
  v_capped record;
  v_most   record;
begin
  for v_send in
    select asked.place, send.send_id, send.automation_id, send.address_key, send.limits, person.person_id,
      person.identity_ids, person.zone, person.is_confirmed
    from unnest(limit_hand_offs.send_ids, limit_hand_offs.stopped) with ordinality as asked (send_id, stop, place)
    cross join lateral (
      select known.send_id, known.automation_id, known.address_key, known.limits, known.identity_id, known.profile_id,
        known.recipient
      from delivery.sends as known
      where known.project_id = limit_hand_offs.project_id and known.send_id = asked.send_id
      and known.limits is not null
      limit 1
    ) as send
    cross join lateral profiles.read_person(limit_hand_offs.project_id, send.identity_id, send.profile_id,
      send.recipient) as person
    where asked.stop is null
    order by asked.place
  loop
    perform base.use_zone(array[v_send.zone, v_send.limits ->> 'zone']);
    v_cap := v_send.limits -> 'frequency_cap';
    wait_until := base.quiet_until(v_now, (v_send.limits #>> '{quiet_hours,from}')::time,
      (v_send.limits #>> '{quiet_hours,to}')::time);
    stop := case when wait_until is not null then 'quiet_hours' end;

    if stop is null and v_cap is not null then
      v_capped := delivery.capped_until(limit_hand_offs.project_id, v_send.send_id, v_send.automation_id,
        v_send.identity_ids, v_cap, v_now);
      if v_capped.until is not null then
        stop := 'frequency_cap';
        wait_until := case when v_cap ->> 'over' <> 'skip' then v_capped.until end;
      elsif v_capped.is_under_way or v_send.person_id = any (v_people) then
        stop := 'frequency_cap';
        wait_until := v_moment;
      end if;
    end if;

    if stop is null and v_send.limits ? 'unconfirmed' and not v_send.is_confirmed then
      v_most := delivery.had_most(limit_hand_offs.project_id, v_send.send_id, v_send.automation_id,
        v_send.address_key, v_send.limits -> 'unconfirmed', v_now);
      if v_most.is_so then
        stop := 'unconfirmed_address';
      elsif v_most.is_under_way or v_send.address_key = any (v_keys) then
        stop := 'unconfirmed_address';
        wait_until := v_moment;
      end if;
    end if;

    if stop is null and limit_hand_offs.are_together then
      v_people := v_people || v_send.person_id;
      v_keys := v_keys || v_send.address_key;
    elsif stop is not null then
      place := v_send.place;
      return next;
    end if;
  end loop;
end;
$$;
--! EndIncluded delivery/limit_hand_offs.sql
--! Included delivery/put_off_sends.sql
-- Lets those of some leased sends wait whose limits keep them for now, as if nobody had claimed them; answers which.
--
-- A look before they are rendered, which holds nobody: whatever goes on is asked again when it is handed over.
create or replace function delivery.put_off_sends(project_id uuid, send_ids uuid[], owner text)
returns setof uuid
language sql volatile
as $$
  update delivery.sends as send
  set status_reason = limited.stop, due_at = limited.wait_until, lease_owner = null, lease_until = null
  from delivery.limit_hand_offs(
    project_id => put_off_sends.project_id,
    send_ids => put_off_sends.send_ids,
    stopped => array_fill(null::text, array[cardinality(put_off_sends.send_ids)]),
    are_together => false
  ) as limited
  where send.project_id = put_off_sends.project_id
  and send.send_id = put_off_sends.send_ids[limited.place]
  and send.status = 'queued' and send.lease_owner = put_off_sends.owner
  and limited.wait_until is not null
  returning send.send_id
$$;
--! EndIncluded delivery/put_off_sends.sql
--! Included delivery/observe_sends.sql
-- Puts on people's timelines what has become of their sends: email_sent or email_skipped.
--
-- Once for each time that it is called, so it is called by whoever moved a send to where it stays, in the same
-- transaction, or deletes the note of it (delivery.ended). Each send with the id of its event, and when it ended.
-- Of whom nobody is known any more nothing is told, nor of a test: its mail went to whoever tries it. Answers how many
-- events there are.
create or replace function delivery.observe_sends(
  project_id uuid,
  flush_id   uuid,
  send_ids   uuid[],
  event_ids  uuid[],
  ended_ats  timestamptz[]
)
returns integer
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_events     uuid[];
  v_ended_ats  timestamptz[];
  v_names      text[];
  v_externals  text[];
  v_devices    text[];
  v_properties jsonb[];
begin
  select array_agg(observed.event_id), array_agg(observed.ended_at), array_agg(said.name),
    array_agg(case when known.kind = 'external' then known.value end),
    array_agg(case when known.kind = 'anonymous' then known.value end),
    array_agg(jsonb_strip_nulls(jsonb_build_object('send_id', observed.send_id, 'automation_id', send.automation_id,
      'step_id', send.step_id, 'template_id', send.template_id, 'reason', said.reason)))
  into v_events, v_ended_ats, v_names, v_externals, v_devices, v_properties
  from unnest(observe_sends.send_ids, observe_sends.event_ids, observe_sends.ended_ats)
    as observed (send_id, event_id, ended_at)
  cross join lateral (
    select found.status, found.status_reason, found.identity_id, found.automation_id, found.step_id, found.template_id
    from delivery.sends as found
    where found.project_id = observe_sends.project_id and found.send_id = observed.send_id and not found.is_test
    limit 1
  ) as send
  cross join lateral profiles.known_as(observe_sends.project_id, array[send.identity_id]) as known
  cross join lateral (
    select case when send.status = 'accepted' then 'email_sent' else 'email_skipped' end as name,
      case
        when send.status in ('rejected', 'failed_render') then send.status
        when send.status <> 'accepted' then coalesce(send.status_reason, send.status)
      end as reason
  ) as said
  where send.status not in ('queued', 'handing_off', 'unknown');

  if v_events is null then
    return 0;
  end if;
  perform from ingest.accept_events(
    project_id => observe_sends.project_id,
    flush_id => observe_sends.flush_id,
    event_ids => v_events,
    message_keys => array_fill(null::uuid, array[cardinality(v_events)]),
    names => v_names,
    external_ids => v_externals,
    anonymous_ids => v_devices,
    properties => v_properties,
    occurred_ats => v_ended_ats,
    key_kinds => array_fill(null::text, array[cardinality(v_events)]),
    sources => array_fill('system'::text, array[cardinality(v_events)])
  );
  return cardinality(v_events);
end;
$$;
--! EndIncluded delivery/observe_sends.sql
--! Included suppression/set_soft_bounced.sql
-- Says since when mail to an address has bounced softly too often in a row, or with null that it has not.
--
-- What we are told late may show that mail arrived in between, so this reason is taken back where what is
-- known does not bear it out any more, and only this one. A lift stands against what was counted before it; history
-- says whenever the address begins to be left alone for this reason, also again after a lift, and when it ends.
create or replace function suppression.set_soft_bounced(
  project_id  uuid,
  address_key bytea,
  email       text,
  history_id  uuid,
  source      text,
  since       timestamptz,
  at          timestamptz
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_is_erased boolean := suppression.hold_address(set_soft_bounced.project_id, set_soft_bounced.address_key);
  v_was       timestamptz;
  v_lifted_at timestamptz;
  v_stood     boolean;
  v_stands    boolean;
begin
  select address.soft_bounced_at into strict v_was from suppression.addresses as address
  where address.project_id = set_soft_bounced.project_id and address.address_key = set_soft_bounced.address_key;
  select coalesce(max(lift.changed_at), '-infinity') into v_lifted_at from suppression.history as lift
  where lift.project_id = set_soft_bounced.project_id and lift.address_key = set_soft_bounced.address_key
  and lift.change = 'released' and lift.import_id is null;

  update suppression.addresses as address
  set soft_bounced_at = set_soft_bounced.since,
    soft_bounced_source = case when set_soft_bounced.since is not null then set_soft_bounced.source end,
    email = case when not v_is_erased
      then least(address.email collate "C", set_soft_bounced.email collate "C") end
  where address.project_id = set_soft_bounced.project_id and address.address_key = set_soft_bounced.address_key;

  v_stood := coalesce(v_was > v_lifted_at, false);
  v_stands := coalesce(set_soft_bounced.since > v_lifted_at, false);
  if v_stood <> v_stands then
    insert into suppression.history (project_id, history_id, address_key, change, source, changed_at)
    values (set_soft_bounced.project_id, set_soft_bounced.history_id, set_soft_bounced.address_key,
      case when v_stands then 'soft_bounced' else 'soft_recovered' end,
      set_soft_bounced.source, least(set_soft_bounced.since, set_soft_bounced.at));
  end if;
  perform suppression.show_strongest(set_soft_bounced.project_id, set_soft_bounced.address_key);
end;
$$;
--! EndIncluded suppression/set_soft_bounced.sql
--! Included analytics/sends.sql
-- Every message that was to be sent, and what became of it.
create or replace view analytics.sends with (security_invoker = true) as
select
  send.send_id,
  send.automation_id,
  nullif(automation.name, '') as automation,
  send.run_id,
  nullif(send.step_id, '') as step_id,
  send.template_id,
  send.template_version,
  nullif(template.name, '') as template,
  coalesce(identity.profile_id, send.profile_id) as profile_id,
  nullif(send.recipient, '') as recipient,
  nullif(send.subject, '') as subject,
  case
    when send.complained_at is not null then 'complained'
    when send.bounced_at is not null then 'bounced'
    when send.delivered_at is not null then 'delivered'
    else send.status
  end as status,
  case when send.status = 'unknown' or send.status_reason <> 'outcome_unknown' then nullif(send.status_reason, '') end
    as status_reason,
  send.event_id,
  send.event_occurred_at,
  send.queued_at,
  send.handed_off_at,
  send.accepted_at,
  send.delivered_at,
  send.bounced_at,
  send.complained_at,
  send.is_test
from delivery.sends as send
left join automations.automations as automation
  on automation.project_id = send.project_id and automation.automation_id = send.automation_id
left join rendering.templates as template
  on template.project_id = send.project_id and template.template_id = send.template_id
  and template.version = send.template_version
left join automations.runs as run on run.project_id = send.project_id and run.run_id = send.run_id
left join identity.identities as identity
  on identity.project_id = run.project_id and identity.identity_id = run.identity_id;

comment on view analytics.sends is 'Every message that was to be sent, and what became of it';
comment on column analytics.sends.send_id is 'Id; sorts by time';
comment on column analytics.sends.automation_id is 'The automation that sent it';
comment on column analytics.sends.automation is 'Its name today';
comment on column analytics.sends.run_id is 'The run that sent it';
comment on column analytics.sends.step_id is 'The step that sent it';
comment on column analytics.sends.template_id is 'What was sent';
comment on column analytics.sends.template_version is 'In which version';
comment on column analytics.sends.template is 'The template''s name';
comment on column analytics.sends.profile_id is 'Whom it was for: their profile today';
comment on column analytics.sends.recipient is 'The address; null once its person was erased';
comment on column analytics.sends.subject is
  'The subject as it was sent; null until it was rendered, and once its person was erased';
comment on column analytics.sends.status is
  'The strongest fact: complained, bounced, delivered, else the state of the hand-off (accepted, rejected, queued, …)';
comment on column analytics.sends.status_reason is
  'Why, where there is a reason; of a queued one what it waits for (quiet_hours, frequency_cap, ramp, a failure)';
comment on column analytics.sends.event_id is 'The event that led to it';
comment on column analytics.sends.event_occurred_at is 'When that event occurred';
comment on column analytics.sends.queued_at is 'When it was decided to send it';
comment on column analytics.sends.handed_off_at is 'When it was last handed to the provider';
comment on column analytics.sends.accepted_at is 'When the provider took it';
comment on column analytics.sends.delivered_at is 'When it reached the mailbox, if the provider says so';
comment on column analytics.sends.bounced_at is 'When it bounced';
comment on column analytics.sends.complained_at is 'When the recipient complained';
comment on column analytics.sends.is_test is 'Whether somebody only tried the automation';

grant select on analytics.sends to trunkline_analyst;
--! EndIncluded analytics/sends.sql
