--! Previous: sha1:2844eb65d743390cb1e7fdbd1b9dfdd90243acd3
--! Hash: sha1:74d3f414e4152a3560c7adc8869125e8a5759c49
--! Message: values_are_none_of_a_list

-- Enter migration here

--! Included segments/holds.sql
-- Says whether a value passes a test of a segment's definition. A value that is missing is null; never answers null.
--
-- The same rule as src/segments/value_tests.ts, which says what it means. Types are never turned into each
-- other: a test of numbers fails for texts. `today` is the day, in UTC, that windows end with.
create or replace function segments.holds(value jsonb, test jsonb, today date)
returns boolean
language sql immutable
as $$
  select coalesce(
    case holds.test ->> 'is'
      when 'exists' then holds.value is not null
      when 'not_exists' then holds.value is null
      when 'equals' then holds.value = holds.test -> 'value'
      when 'not_equals' then holds.value is null or holds.value <> holds.test -> 'value'
      when 'one_of' then jsonb_typeof(holds.value) in ('string', 'number', 'boolean')
        and holds.test -> 'values' @> holds.value
      when 'none_of' then holds.value is null or jsonb_typeof(holds.value) not in ('string', 'number', 'boolean')
        or not holds.test -> 'values' @> holds.value
      when 'contains' then case jsonb_typeof(holds.value)
        when 'array' then holds.value @> (holds.test -> 'value')
        when 'string' then jsonb_typeof(holds.test -> 'value') = 'string'
          and strpos(holds.value #>> '{}', holds.test ->> 'value') > 0
      end
      when 'starts_with' then jsonb_typeof(holds.value) = 'string'
        and starts_with(holds.value #>> '{}', holds.test ->> 'value')
      when 'before' then segments.read_moment(holds.value) < segments.read_moment(holds.test -> 'value')
      when 'after' then segments.read_moment(holds.value) > segments.read_moment(holds.test -> 'value')
      when 'within_last' then holds.today - (segments.read_moment(holds.value) at time zone 'UTC')::date
        between 0 and (holds.test ->> 'days')::integer - 1
      when 'within_next' then (segments.read_moment(holds.value) at time zone 'UTC')::date - holds.today
        between 0 and (holds.test ->> 'days')::integer - 1
      when 'anniversary' then segments.next_anniversary(
          (segments.read_moment(holds.value) at time zone 'UTC')::date, holds.today) - holds.today
        between 0 and (holds.test ->> 'days')::integer - 1
      else case when jsonb_typeof(holds.value) = 'number' then
        case holds.test ->> 'is'
          when 'greater' then holds.value::numeric > (holds.test -> 'value')::numeric
          when 'at_least' then holds.value::numeric >= (holds.test -> 'value')::numeric
          when 'less' then holds.value::numeric < (holds.test -> 'value')::numeric
          when 'at_most' then holds.value::numeric <= (holds.test -> 'value')::numeric
        end
      end
    end,
    false
  )
$$;
--! EndIncluded segments/holds.sql
