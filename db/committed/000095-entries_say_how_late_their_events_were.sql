--! Previous: sha1:4ad88cc188b9c57b8d93d160dc11e912a7ae9ecf
--! Hash: sha1:0bbbc718e60a68f3a2069f688a2a2fbcbe9aebd0
--! Message: entries_say_how_late_their_events_were

-- An entry of the history of segments says whether the undo of a link caused it, and how late the events were that did.
-- Both columns are new ones, because processes of the release before know no other cause.
alter table segments.history add column if not exists is_undo boolean not null default false;
alter table segments.history add column if not exists lag_ms bigint;
select base.declare_columns('segments.history', '{}', '{}', '{is_undo, lag_ms}');
select base.open_to_analysts('segments.history', '{project_id, entry, segment_id, version, profile_id, change, cause,
  changed_at, is_undo}');
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
  case when history.is_undo then 'undo' else history.cause end as cause,
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
  'segment or of one that it asks about; undo: of an identity link';
comment on column analytics.segment_history.changed_at is 'When';

grant select on analytics.segment_history to trunkline_analyst;
--! EndIncluded analytics/segment_history.sql
