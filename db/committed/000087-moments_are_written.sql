--! Previous: sha1:150bcc418b9e43974aecd16d987e57df62d1b5da
--! Hash: sha1:3c56c75050c8700c8468cb2eefd56a0479a622c3
--! Message: moments_are_written

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
