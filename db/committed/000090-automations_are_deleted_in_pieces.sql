--! Previous: sha1:233488687053d4e73e786226f630c18685e577d1
--! Hash: sha1:b441541fd665cd091575e61b7af61f790a43c206
--! Message: automations_are_deleted_in_pieces

-- An automation is deleted in pieces. Its status says so until the last of its rows is gone.
alter table automations.automations drop constraint if exists automations_status_is_known;
alter table automations.automations add constraint automations_status_is_known
  check (status in ('draft', 'active', 'paused', 'archived', 'deleting')) not valid;
select base.open_to_analysts('automations.automations', '{project_id,automation_id,name,status}');
grant delete on automations.automations, automations.versions, automations.runs, automations.segment_starts
  to trunkline_runtime;

-- Email of a deleted automation is not handed over any more, and says why.
alter table delivery.halts drop constraint if exists halts_stop_is_known;
alter table delivery.halts add constraint halts_stop_is_known
  check (stop in ('automation_paused', 'automation_archived', 'automation_deleted')) not valid;

alter table automations.commands drop constraint if exists commands_kind_is_known;
alter table automations.commands add constraint commands_kind_is_known
  check (kind in ('resume', 'archive', 'move', 'delete')) not valid;

--! Included delivery/end_for.sql
-- The end of a send that waits and is stopped for this reason; null of what stops none.
create or replace function delivery.end_for(stop text)
returns text
language sql immutable
as $$
  select case
    when end_for.stop in ('suppressed', 'unsubscribed') then 'suppressed'
    when end_for.stop in ('cancelled', 'erased', 'provider_deleted', 'automation_archived', 'automation_deleted',
      'frequency_cap', 'recipient_cap', 'unconfirmed_address') then 'cancelled'
    when end_for.stop in ('expired', 'failed_render') then end_for.stop
  end;
$$;
--! EndIncluded delivery/end_for.sql
--! Included delivery/halt_hand_offs.sql
-- Says which of some sends are not handed over because their automation is paused, archived or deleted: by place, why,
-- and until when it waits, or null where it is not sent at all. A test of an automation goes on, however that stands.
--
-- The halt stays until the transaction ends, so that a transaction that lifts it finds all that waits because of it.
-- One that is just being set or lifted is not waited for: it is none yet, or none any more.
create or replace function delivery.halt_hand_offs(project_id uuid, send_ids uuid[])
returns table (place bigint, stop text, wait_until timestamptz)
language plpgsql volatile
set search_path = ''
as $$
begin
  if not exists (select from delivery.halts as halt where halt.project_id = halt_hand_offs.project_id) then
    return;
  end if;

  return query
  select asked.place, halt.stop,
    case when halt.stop = 'automation_paused' then clock_timestamp() + interval '1 hour' end
  from unnest(halt_hand_offs.send_ids) with ordinality as asked (send_id, place)
  cross join lateral (
    select known.automation_id
    from delivery.sends as known
    where known.project_id = halt_hand_offs.project_id and known.send_id = asked.send_id and not known.is_test
    limit 1
  ) as send
  join delivery.halts as halt on halt.project_id = halt_hand_offs.project_id and halt.automation_id = send.automation_id
  for share of halt skip locked;
end;
$$;
--! EndIncluded delivery/halt_hand_offs.sql
--! Included analytics/sends.sql
-- Every message that was to be sent, and what became of it.
create or replace view analytics.sends with (security_invoker = true) as
select
  send.send_id,
  send.automation_id,
  case
    when automation.automation_id is not null then nullif(automation.name, '')
    when send.automation_id is not null then '(deleted)'
  end as automation,
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
  and automation.status <> 'deleting'
left join rendering.templates as template
  on template.project_id = send.project_id and template.template_id = send.template_id
  and template.version = send.template_version
left join automations.runs as run on run.project_id = send.project_id and run.run_id = send.run_id
left join identity.identities as identity
  on identity.project_id = run.project_id and identity.identity_id = run.identity_id;

comment on view analytics.sends is 'Every message that was to be sent, and what became of it';
comment on column analytics.sends.send_id is 'Id; sorts by time';
comment on column analytics.sends.automation_id is 'The automation that sent it';
comment on column analytics.sends.automation is 'Its name today; (deleted) once it is deleted';
comment on column analytics.sends.run_id is 'The run that sent it';
comment on column analytics.sends.step_id is 'The step that sent it';
comment on column analytics.sends.template_id is 'What was sent';
comment on column analytics.sends.template_version is 'In which version';
comment on column analytics.sends.template is 'The template''s name';
comment on column analytics.sends.profile_id is 'The profile that the person has today';
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
comment on column analytics.sends.is_test is 'Whether it was only a test of the automation';

grant select on analytics.sends to trunkline_analyst;
--! EndIncluded analytics/sends.sql
--! Included analytics/runs.sql
-- Every way of a person through an automation that is not deleted.
create or replace view analytics.runs with (security_invoker = true) as
select
  run.run_id,
  run.automation_id,
  nullif(automation.name, '') as automation,
  run.version,
  identity.profile_id,
  run.trigger_event_id,
  run.trigger_event_at,
  run.status,
  nullif(run.step_id, '') as step_id,
  run.wake_at,
  run.started_at,
  run.ended_at,
  nullif(run.outcome, '') as outcome,
  run.is_test
from automations.runs as run
left join automations.automations as automation
  on automation.project_id = run.project_id and automation.automation_id = run.automation_id
left join identity.identities as identity
  on identity.project_id = run.project_id and identity.identity_id = run.identity_id
where automation.status is distinct from 'deleting';

comment on view analytics.runs is 'Every way of a person through an automation that is not deleted';
comment on column analytics.runs.run_id is 'Id';
comment on column analytics.runs.automation_id is 'The automation';
comment on column analytics.runs.automation is 'Its name today';
comment on column analytics.runs.version is 'The version of it that the run follows to its end';
comment on column analytics.runs.profile_id is 'Whose run it is: their profile today';
comment on column analytics.runs.trigger_event_id is 'The event that started it; null when a person started it by hand';
comment on column analytics.runs.trigger_event_at is 'When that event occurred';
comment on column analytics.runs.status is 'active, paused, ended or failed';
comment on column analytics.runs.step_id is 'The step it is at; null when it has ended';
comment on column analytics.runs.wake_at is 'When it goes on, if it waits';
comment on column analytics.runs.started_at is 'When it was started';
comment on column analytics.runs.ended_at is 'When it ended';
comment on column analytics.runs.outcome is
  'How it ended: completed, converted, exited, unsubscribed, held_out, expired, archived, …';
comment on column analytics.runs.is_test is 'Whether it is only a test of the automation';

grant select on analytics.runs to trunkline_analyst;
--! EndIncluded analytics/runs.sql
