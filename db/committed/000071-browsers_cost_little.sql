--! Previous: sha1:7dc2da5030fd2e5f86c93d34046e71b62d3cdff3
--! Hash: sha1:acc607c8d5193f667c265deba7d07b3e19b1e67f
--! Message: browsers_cost_little

-- Enter migration here
-- Deletes of traits past a bound rank the traits of an identity once, not once for each trait.
--! Included profiles/forget_traits.sql
-- Forgets, of what pages told an identity and of what servers took away, whatever is beyond traits_max and bytes_max.
--
-- The newest values stay, and an address longest of all, so that no holder of a publishable key grows a person
-- without end. The function never deletes a server's values: overfills_traits refuses them instead. It deletes nothing
-- where there is no bound.
--
-- The keys to delete are an array, so that the ranking runs once. As a join it may run once for each trait: the planner
-- expects one row.
create or replace function profiles.forget_traits(
  project_id  uuid,
  identity_id uuid,
  traits_max  integer,
  bytes_max   integer
)
returns void
language sql volatile
as $$
  delete from profiles.traits as kept
  where kept.project_id = forget_traits.project_id and kept.identity_id = forget_traits.identity_id
  and kept.key = any (array(
    select ranked.key
    from (
      select trait.key, row_number() over newest as place,
        sum(profiles.trait_bytes(trait.key, trait.value)) over newest as bytes
      from profiles.traits as trait
      where trait.project_id = forget_traits.project_id and trait.identity_id = forget_traits.identity_id
      and (trait.authority = 'publishable' or trait.value = 'null')
      window newest as (
        partition by trait.authority order by trait.key = 'email' desc, trait.set_at desc, trait.key collate "C"
      )
    ) as ranked
    where ranked.place > forget_traits.traits_max or ranked.bytes > forget_traits.bytes_max
  ))
$$;
--! EndIncluded profiles/forget_traits.sql
--! Included profiles/set_browser_traits.sql
-- Keeps what a browser asserted about an identity apart from what servers said of it: an email to an address that only
-- a browser asserted is rendered from this alone.
--
-- Per key the later set_at wins, then the greater value as text, so that the order of arrival cannot matter.
-- browser_key says which browser it was, null where it did not say. At most traits_max keys and bytes_max of JSON
-- stay: the latest, and an address longest of all. The keys to delete are an array, so that the ranking runs once.
create or replace function profiles.set_browser_traits(
  project_id  uuid,
  identity_id uuid,
  traits      jsonb,
  set_at      timestamptz,
  at          timestamptz,
  browser_key bytea,
  traits_max  integer,
  bytes_max   integer
)
returns void
language sql volatile
as $$
  insert into profiles.browser_traits as kept (project_id, identity_id, key, value, set_at, told_at, browser_key)
  select set_browser_traits.project_id, set_browser_traits.identity_id, told.key, told.value,
    set_browser_traits.set_at, set_browser_traits.at, set_browser_traits.browser_key
  from jsonb_each(set_browser_traits.traits) as told
  order by told.key
  on conflict (project_id, identity_id, key) do update
  set value = excluded.value, set_at = excluded.set_at, told_at = excluded.told_at, browser_key = excluded.browser_key
  where (excluded.set_at, excluded.value::text collate "C") > (kept.set_at, kept.value::text collate "C");

  delete from profiles.browser_traits as kept
  where kept.project_id = set_browser_traits.project_id and kept.identity_id = set_browser_traits.identity_id
  and kept.key = any (array(
    select ranked.key
    from (
      select trait.key, row_number() over newest as place,
        sum(profiles.trait_bytes(trait.key, trait.value)) over newest as bytes
      from profiles.browser_traits as trait
      where trait.project_id = set_browser_traits.project_id
      and trait.identity_id = set_browser_traits.identity_id
      window newest as (order by trait.key = 'email' desc, trait.set_at desc, trait.key collate "C")
    ) as ranked
    where ranked.place > set_browser_traits.traits_max or ranked.bytes > set_browser_traits.bytes_max
  ))
$$;
--! EndIncluded profiles/set_browser_traits.sql

-- Of runs that no server started, a person gets one email_skipped of an automation a day.
--! Included delivery/skip_key.sql
-- Returns the message key of the one email_skipped that a person gets of an automation on a day (UTC).
--
-- For runs that no server started: a stranger who floods such an automation with events must not flood the timeline. A
-- digest of random ids: no client can send a message id that has it.
create or replace function delivery.skip_key(project_id uuid, identity_id uuid, automation_id uuid, at timestamptz)
returns uuid
language sql immutable
as $$
  select (left(digest.hex, 12) || '8' || substr(digest.hex, 14, 3) || '8' || substr(digest.hex, 18, 15))::uuid
  from (
    select encode(sha256((
      'email_skipped/' || skip_key.project_id::text || '/' || skip_key.identity_id::text || '/'
      || skip_key.automation_id::text || '/' || (skip_key.at at time zone 'utc')::date::text
    )::bytea), 'hex') as hex
  ) as digest
$$;
--! EndIncluded delivery/skip_key.sql
--! Included delivery/observe_sends.sql
-- Puts on people's timelines what has become of their sends: email_sent or email_skipped.
--
-- Each call adds its events once more. So only the transaction that ends a send, or that deletes its row of
-- delivery.ended, calls it, with the id of the event of each send, and when it ended. Sends of erased people and of
-- tests add no event. Of runs that no server started, a person gets one email_skipped of an automation a day
-- (delivery.skip_key). Returns the number of events.
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
  v_now        timestamptz := clock_timestamp();
  v_events     uuid[];
  v_ended_ats  timestamptz[];
  v_names      text[];
  v_externals  text[];
  v_devices    text[];
  v_properties jsonb[];
  v_keys       uuid[];
begin
  select array_agg(told.event_id), array_agg(told.ended_at), array_agg(told.name),
    array_agg(case when known.kind = 'external' then known.value end),
    array_agg(case when known.kind = 'anonymous' then known.value end),
    array_agg(told.properties), array_agg(told.message_key)
  into v_events, v_ended_ats, v_names, v_externals, v_devices, v_properties, v_keys
  from (
    select ended.*, row_number() over (partition by ended.message_key order by ended.event_id) as nth
    from (
      select observed.event_id, observed.ended_at, send.identity_id, said.name,
        jsonb_strip_nulls(jsonb_build_object('send_id', observed.send_id, 'automation_id', send.automation_id,
          'step_id', send.step_id, 'template_id', send.template_id, 'reason', said.reason)) as properties,
        case when said.name = 'email_skipped' and send.limits ? 'browser_triggered' then
          delivery.skip_key(observe_sends.project_id, send.identity_id, send.automation_id,
            coalesce(observed.ended_at, v_now))
        end as message_key
      from unnest(observe_sends.send_ids, observe_sends.event_ids, observe_sends.ended_ats)
        as observed (send_id, event_id, ended_at)
      cross join lateral (
        select found.* from delivery.sends as found
        where found.project_id = observe_sends.project_id and found.send_id = observed.send_id and not found.is_test
        limit 1
      ) as send
      cross join lateral (
        select case when send.status = 'accepted' then 'email_sent' else 'email_skipped' end as name,
          case
            when send.status in ('rejected', 'failed_render') then send.status
            when send.status <> 'accepted' then coalesce(send.status_reason, send.status)
          end as reason
      ) as said
      where send.status not in ('queued', 'handing_off', 'unknown')
    ) as ended
  ) as told
  cross join lateral profiles.known_as(observe_sends.project_id, array[told.identity_id]) as known
  where told.message_key is null or (told.nth = 1 and not exists (
    select from ingest.message_ids as taken
    where taken.project_id = observe_sends.project_id and taken.message_key = told.message_key
  ));

  if v_events is null then
    return 0;
  end if;
  perform from ingest.accept_events(
    project_id => observe_sends.project_id,
    flush_id => observe_sends.flush_id,
    event_ids => v_events,
    message_keys => v_keys,
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
