-- Spreads a migrated database over a Citus cluster, by project: every tenant table by project_id, all of them together,
-- so that whatever one project's statement, function or foreign key is about lives on one node.
--
-- Run once, on the coordinator, as a superuser (row-level security is forced on owners, too, and what is there already
-- is copied), after `create extension citus` and after `make migrate`; db/README.md says the rest. test/citus holds
-- this file to the catalogue: each table is named here once, in the group of its columns, after those it refers to.

-- The nodes have to know each other, the coordinator too: local tables refer to shared ones.
--   select citus_set_coordinator_host('coordinator', 5432);
--   select citus_add_node('worker-1', 5432);

-- What row-level security compares with has to be known where the rows are. Citus takes SET LOCAL along to every
-- connection of the transaction, once it is told to, and no call of set_config.
do $$ begin
  execute format('alter database %I set citus.propagate_set_commands = %L', current_database(), 'local');
end $$;

create or replace function base.use_project(project_id uuid)
returns text
language plpgsql volatile
set search_path = ''
as $$
begin
  execute format('set local trunkline.project_id = %L', use_project.project_id);
  return use_project.project_id::text;
end;
$$;

-- Shared: small, asked for before a project is known, on every node.
select create_reference_table('projects.projects');
select create_reference_table('projects.api_keys');

-- Of tenants: who is referred to comes before who refers. New months of the timeline follow by themselves.
select create_distributed_table('ingest.events', 'project_id', colocate_with => 'none');
select create_distributed_table('ingest.message_ids', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('ingest.pending', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('ingest.devices', 'project_id', colocate_with => 'ingest.events');

select create_distributed_table('identity.identities', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('identity.links', 'project_id', colocate_with => 'ingest.events');

select create_distributed_table('profiles.profiles', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('profiles.traits', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('profiles.browser_traits', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('profiles.changes', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('profiles.watches', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('profiles.watched_traits', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('profiles.trait_changes', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('profiles.erasures', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('profiles.erasing_addresses', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('profiles.erase_counts', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('profiles.tombstones', 'project_id', colocate_with => 'ingest.events');

select create_distributed_table('segments.projects', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('segments.segments', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('segments.versions', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('segments.conditions', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('segments.counters', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('segments.history', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('segments.imports', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('segments.imported', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('segments.members', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('segments.wakeups', 'project_id', colocate_with => 'ingest.events');

select create_distributed_table('suppression.addresses', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('suppression.history', 'project_id', colocate_with => 'ingest.events');

select create_distributed_table('rendering.heads', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('rendering.templates', 'project_id', colocate_with => 'ingest.events');

select create_distributed_table('providers.data_keys', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('providers.providers', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('providers.paces', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('providers.domain_checks', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('providers.bounce_mailboxes', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('providers.domain_changes', 'project_id', colocate_with => 'ingest.events');

select create_distributed_table('automations.automations', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.versions', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.commands', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.triggers', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.segment_triggers', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.segment_readers', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.segment_starts', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.schedules', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.refusals', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.runs', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.enrollments', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.arms', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.run_totals', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.run_log', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.run_merges', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.pending_merges', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.waits', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.endpoints', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.endpoint_secrets', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.webhook_deliveries', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('automations.calls', 'project_id', colocate_with => 'ingest.events');

select create_distributed_table('delivery.sends', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('delivery.attempts', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('delivery.contents', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('delivery.send_totals', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('delivery.settings', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('delivery.hourly_counts', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('alerts.alerts', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('alerts.announcements', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('alerts.settings', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('delivery.unconfirmed_budgets', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('delivery.halts', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('delivery.ended', 'project_id', colocate_with => 'ingest.events');

select create_distributed_table('feedback.notices', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('feedback.posts', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('feedback.refusals', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('feedback.settings', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('feedback.signing_keys', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('feedback.topics', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('feedback.refused_topics', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('feedback.topic_changes', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('feedback.topic_lists', 'project_id', colocate_with => 'ingest.events');

select create_distributed_table('http.idempotency_keys', 'project_id', colocate_with => 'ingest.events');

select create_distributed_table('quotas.settings', 'project_id', colocate_with => 'ingest.events');
select create_distributed_table('quotas.key_days', 'project_id', colocate_with => 'ingest.events');

-- Questions that are asked inside of statements go to where the rows are.
select create_distributed_function(oid::regprocedure)
from pg_catalog.pg_proc
where prokind = 'f' and provolatile <> 'v' and pronamespace::regnamespace::text in (
  'automations', 'base', 'delivery', 'feedback', 'http', 'identity', 'ingest', 'profiles', 'providers', 'quotas', 'rendering',
  'segments', 'suppression'
);

-- Local, on the coordinator: the queue, who works in the Console, what this installation is and was. Nothing of tenants.
-- Those that refer to a shared table become known to the cluster by that.
--   admin.access_requests admin.audit admin.installation_audit admin.invitations admin.members admin.people
--   admin.known_devices admin.sessions base.api_processes base.rate_limit_counters base.sending queue.workers
--   migrations.bootstrap_migrations migrations.master_key migrations.online_migrations
