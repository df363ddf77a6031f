--! Previous: sha1:af56ec1dd369d4ebf3eea75beac3477fb8a3d803
--! Hash: sha1:9ee576db00b675564bc15c1f5a3adfae241b9d42
--! Message: what_is_told_from_the_future_is_now

--! Included suppression/note_change.sql
-- Writes into an address's history that it was suppressed or released, and makes the row what history says.
--
-- Takes the address row exclusively; a hand-off takes the same row in share mode. That is the one order
-- between "suppress" and "hand off". Without `at` it happens now, after everything that is known: what people
-- do counts in the order they did it; so does what is told from the future. With `at` it counts from then,
-- whenever we are told. The same change twice is one.
create or replace function suppression.note_change(
  project_id       uuid,
  address_key      bytea,
  history_id       uuid,
  change           text,
  reason           text,
  source           text,
  at               timestamptz,
  note             text,
  import_id        uuid,
  lifts_complaints boolean
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_is_erased boolean := suppression.hold_address(note_change.project_id, note_change.address_key);
  v_now       timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_latest    timestamptz;
begin
  select max(known.changed_at) into v_latest from suppression.history as known
  where known.project_id = note_change.project_id and known.address_key = note_change.address_key;

  insert into suppression.history (project_id, history_id, address_key, change, reason, source, changed_at, note,
    import_id, lifts_complaints)
  values (note_change.project_id, note_change.history_id, note_change.address_key, note_change.change,
    note_change.reason, note_change.source,
    case when note_change.at <= v_now then note_change.at else greatest(v_now, v_latest + interval '1 ms') end,
    case when not v_is_erased then note_change.note end, note_change.import_id, note_change.lifts_complaints)
  on conflict do nothing;

  perform suppression.show_strongest(note_change.project_id, note_change.address_key);
end;
$$;
--! EndIncluded suppression/note_change.sql
