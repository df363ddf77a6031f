--! Previous: sha1:55b5e624361713576e8b1f81b4d7d87e02556897
--! Hash: sha1:af56ec1dd369d4ebf3eea75beac3477fb8a3d803
--! Message: what_was_unknown_is_no_warning

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
  send.complained_at
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
comment on column analytics.sends.status_reason is 'Why, where there is a reason';
comment on column analytics.sends.event_id is 'The event that led to it';
comment on column analytics.sends.event_occurred_at is 'When that event occurred';
comment on column analytics.sends.queued_at is 'When it was decided to send it';
comment on column analytics.sends.handed_off_at is 'When it was last handed to the provider';
comment on column analytics.sends.accepted_at is 'When the provider took it';
comment on column analytics.sends.delivered_at is 'When it reached the mailbox, if the provider says so';
comment on column analytics.sends.bounced_at is 'When it bounced';
comment on column analytics.sends.complained_at is 'When the recipient complained';

grant select on analytics.sends to trunkline_analyst;
--! EndIncluded analytics/sends.sql
