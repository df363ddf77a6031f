--! Previous: sha1:4af9abf97112b08bab712e33e26a2f968a988d09
--! Hash: sha1:706e510384659d8b195e674c10cf829f06ce94aa
--! Message: zones_are_names_of_iana

-- Enter migration here
--! Included base/use_zone.sql
-- Makes the first of some names that is a time zone the transaction's, else UTC, and answers with it. A function that
-- sets its own time zone has that of its caller back when it ends.
--
-- A name of the IANA database, as automations take it (isZone in src/automations/clock.ts). An offset, a zone in
-- POSIX notation and a name of a folder of zone files are none, though the server would take them. The setting and
-- not "at time zone", for which CET and a few others are abbreviations that know no summer.
create or replace function base.use_zone(zones text[])
returns text
language plpgsql volatile
set search_path = ''
as $$
declare
  v_zone text;
begin
  foreach v_zone in array use_zone.zones loop
    if v_zone ~ '^[A-Za-z][A-Za-z0-9_/+-]*$'
      and v_zone !~* '^(systemv|posix|right)/'
      and (v_zone !~ '^[A-Za-z]+[+-]?[0-9]' or v_zone ~* '^(EST5EDT|CST6CDT|MST7MDT|PST8PDT|GMT[+-]?0)$')
    then
      begin
        perform set_config('TimeZone', v_zone, true);
        return v_zone;
      exception
        when invalid_parameter_value then
          null;
      end;
    end if;
  end loop;
  perform set_config('TimeZone', 'UTC', true);
  return 'UTC';
end;
$$;
--! EndIncluded base/use_zone.sql
