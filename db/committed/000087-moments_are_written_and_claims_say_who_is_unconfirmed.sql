--! Previous: sha1:150bcc418b9e43974aecd16d987e57df62d1b5da
--! Hash: sha1:4af9abf97112b08bab712e33e26a2f968a988d09
--! Message: moments_are_written_and_claims_say_who_is_unconfirmed

-- Enter migration here
--! Included segments/read_moment.sql
-- The moment that a JSON text says: an RFC 3339 timestamp with offset, or a date, which is its midnight UTC.
-- Anything else is no moment, and null; it never fails. In UTC a moment lies in the years 1 to 9999.
--
-- The same rule as src/segments/moments.ts, to the millisecond; what is finer is cut off.
create or replace function segments.read_moment(value jsonb)
returns timestamptz
language plpgsql immutable
set search_path = ''
as $$
declare
  v_part  text[];
  v_first timestamp;
  v_at    timestamp;
begin
  if jsonb_typeof(read_moment.value) is distinct from 'string' or length(read_moment.value #>> '{}') > 40 then
    return null;
  end if;
  v_part := regexp_match(read_moment.value #>> '{}', '^([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
    '(?:[Tt]([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,9}))?'
    '(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9])))?$');
  if v_part is null or v_part[1] = '0000' then
    return null;
  end if;

  v_first := make_timestamp(v_part[1]::integer, v_part[2]::integer, 1, 0, 0, 0);
  if v_part[3]::integer > extract(day from v_first + interval '1 month' - interval '1 day') then
    return null;
  end if;
  v_at := v_first
    + make_interval(days => v_part[3]::integer - 1, hours => coalesce(v_part[4], '0')::integer,
      mins => coalesce(v_part[5], '0')::integer, secs => coalesce(v_part[6], '0')::integer)
    + coalesce(rpad(left(v_part[7], 3), 3, '0'), '0')::integer * interval '1 millisecond'
    - case when v_part[8] = '-' then -1 else 1 end
      * make_interval(hours => coalesce(v_part[9], '0')::integer, mins => coalesce(v_part[10], '0')::integer);
  return case when extract(year from v_at) between 1 and 9999 then v_at at time zone 'UTC' end;
end;
$$;
--! EndIncluded segments/read_moment.sql
--! Included segments/next_day.sql
-- The next day on which a window of so many days changes what it says of a day; null when it never will again.
--
-- A day enters a window when it comes, and leaves it when so many days have begun since. No day is after the year 9999:
-- a date beyond it is not written as other dates are.
create or replace function segments.next_day(day date, days integer, today date)
returns date
language sql immutable
as $$
  select case when coming.day <= date '9999-12-31' then coming.day end
  from (
    select case
      when next_day.day > next_day.today then next_day.day
      when next_day.day + next_day.days > next_day.today then next_day.day + next_day.days
    end as day
  ) as coming
$$;
--! EndIncluded segments/next_day.sql
drop function if exists delivery.claim_sends(uuid, uuid, text, integer, integer, interval);
--! Included delivery/claim_sends.sql
-- Leases due sends of one provider, so that workers do not prepare the same ones. Says of each whether its limits may
-- make it wait by now, or its automation; limits of a send planned a moment ago were checked then. And whether only
-- browsers had asserted its address when it was planned.
--
-- A lease only saves work: step_hand_offs decides what is handed off. A lease expires by the database's
-- clock when its owner dies. Nothing is leased while sending is held.
create or replace function delivery.claim_sends(
  project_id    uuid,
  provider_id   uuid,
  owner         text,
  sends_max     integer,
  marketing_max integer,
  lease_for     interval
)
returns table (
  send_id           uuid,
  identity_id       uuid,
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
  may_be_limited    boolean,
  traceparent       text,
  is_unconfirmed    boolean
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now        timestamptz := clock_timestamp();
  v_moment_ago timestamptz := v_now - interval '10 seconds';
  v_ids        uuid[];
begin
  if base.is_sending_held() then
    return;
  end if;

  v_ids := delivery.choose_due(claim_sends.project_id, claim_sends.provider_id, sends_max => claim_sends.sends_max,
    marketing_max => claim_sends.marketing_max, at => v_now);

  return query
  update delivery.sends as send
  set lease_owner = claim_sends.owner, lease_until = v_now + claim_sends.lease_for
  where send.project_id = claim_sends.project_id
  and send.send_id = any (v_ids)
  returning send.send_id, send.identity_id, send.profile_id, send.template_id, send.template_version, send.event_id,
    send.event_occurred_at, send.address_key, send.recipient, send.automation_id, send.category,
    send.attempt_count + 1, send.is_test,
    (send.limits is not null and (send.status_reason is not null or send.queued_at < v_moment_ago))
      or exists (
        select from delivery.halts as halt
        where halt.project_id = claim_sends.project_id and halt.automation_id = send.automation_id and not send.is_test
      ),
    send.traceparent, coalesce(send.limits ? 'unconfirmed', false);
end;
$$;
--! EndIncluded delivery/claim_sends.sql
