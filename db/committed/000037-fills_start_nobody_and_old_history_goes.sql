--! Previous: sha1:0ca3a285b6724c738d792a54f4b65cb92324364c
--! Hash: sha1:d59f584b05fa4fad3c76b10d0ca2210434fecf65
--! Message: fills_start_nobody_and_old_history_goes

-- A definition counts for whoever its fill has reached, and for who came since; for the others the one before does.
alter table segments.segments add column if not exists former_version integer;
alter table segments.segments add column if not exists filling_since timestamptz(3);
select base.declare_columns('segments.segments', '{}', '{}', '{former_version,filling_since}');

-- The fill of a version goes on to its end also when the next one comes.
alter table segments.segments drop constraint if exists segments_filling_says_how_far;
alter table segments.segments add constraint segments_filling_says_how_far
  check (status <> 'filling' or filled_to is not null);

--! Included analytics/segment_history.sql
-- Who entered and left which segment, and why.
create or replace view analytics.segment_history with (security_invoker = true) as
select
  history.entry,
  history.segment_id,
  nullif(segment.name, '') as segment,
  history.version,
  history.profile_id,
  history.change,
  history.cause,
  history.changed_at
from segments.history as history
join segments.segments as segment
  on segment.project_id = history.project_id and segment.segment_id = history.segment_id
where segment.status <> 'deleting';

comment on view analytics.segment_history is
  'Who entered and left which segment, and why; of times before the timeline only when each last did';
comment on column analytics.segment_history.entry is 'Counts up in the order in which it happened';
comment on column analytics.segment_history.segment_id is 'The segment';
comment on column analytics.segment_history.segment is 'Its name today';
comment on column analytics.segment_history.version is 'The version of its definition';
comment on column analytics.segment_history.profile_id is 'Who';
comment on column analytics.segment_history.change is 'entered or left';
comment on column analytics.segment_history.cause is
  'change: of the person, of what they did, or of a list with them; time: it passed; fill: a new definition, of this '
  'segment or of one that it asks about';
comment on column analytics.segment_history.changed_at is 'When';

grant select on analytics.segment_history to trunkline_analyst;
--! EndIncluded analytics/segment_history.sql
