--! Previous: sha1:b408f31c37ddeba5815d6fe27844eb74c12acc58
--! Hash: sha1:996abc836afe116238183bef918a725545ec9aed
--! Message: people_have_roles_and_changes_are_audited

-- Who may do what in which project. Asked for before a project is known, so it is a look-up table, as keys are.
create table if not exists admin.members (
  project_id uuid not null references projects.projects on delete cascade,
  person_id  uuid not null references admin.people on delete cascade,
  role       text not null constraint members_role_is_known check (role in ('owner', 'editor', 'viewer')),
  since      timestamptz(3) not null,
  primary key (project_id, person_id)
);
create index if not exists members_by_person on admin.members (person_id);
select base.declare_columns('admin.members', '{}', '{}', '{project_id,person_id,role,since}');
grant select, insert, delete, update (role) on admin.members to trunkline_runtime;

-- The way in for one address: into a project, or as administrator of the installation. Known by a hash of its token.
create table if not exists admin.invitations (
  invitation_id uuid primary key,
  project_id    uuid references projects.projects on delete cascade,
  email         text not null constraint invitations_email_is_short check (length(email) between 3 and 254),
  role          text not null constraint invitations_role_is_known
    check (role in ('owner', 'editor', 'viewer', 'admin')),
  token_hash    bytea not null constraint invitations_hash_is_hmac_sha256 check (length(token_hash) = 32),
  invited_by    uuid references admin.people on delete set null,
  created_at    timestamptz(3) not null,
  expires_at    timestamptz(3) not null,
  accepted_at   timestamptz(3),
  revoked_at    timestamptz(3),
  constraint invitations_end check (expires_at > created_at),
  constraint invitations_of_administrators_name_no_project check ((role = 'admin') = (project_id is null)),
  constraint invitations_are_used_or_taken_back check (num_nonnulls(accepted_at, revoked_at) < 2)
);
create unique index if not exists invitations_by_token on admin.invitations (token_hash);
create unique index if not exists invitations_one_open on admin.invitations (project_id, lower(email)) nulls not distinct
  where accepted_at is null and revoked_at is null;
select base.declare_columns('admin.invitations', '{}', '{token_hash}',
  '{invitation_id,project_id,email,role,invited_by,created_at,expires_at,accepted_at,revoked_at}');
grant select, insert, update (accepted_at, revoked_at) on admin.invitations to trunkline_runtime;

-- Who asked to be let in, and what was decided. Decided ones stay.
create table if not exists admin.access_requests (
  access_request_id uuid primary key,
  email             text not null constraint access_requests_email_is_short check (length(email) between 3 and 254),
  name              text not null constraint access_requests_name_is_short check (length(name) between 1 and 200),
  purpose           text not null constraint access_requests_purpose_is_short check (length(purpose) between 1 and 2000),
  status            text not null constraint access_requests_status_is_known
    check (status in ('waiting', 'approved', 'refused')),
  requested_at      timestamptz(3) not null,
  decided_at        timestamptz(3),
  decided_by        uuid references admin.people on delete set null,
  project_id        uuid references projects.projects on delete set null,
  constraint access_requests_are_decided_once check ((status = 'waiting') = (decided_at is null))
);
create unique index if not exists access_requests_one_waiting on admin.access_requests (lower(email))
  where status = 'waiting';
create index if not exists access_requests_by_status on admin.access_requests (status, access_request_id);
select base.declare_columns('admin.access_requests', '{}', '{}',
  '{access_request_id,email,name,purpose,status,requested_at,decided_at,decided_by,project_id}');
grant select, insert, update (status, decided_at, decided_by, project_id) on admin.access_requests to trunkline_runtime;

-- Every change of a project: who, what, on what, when. Entries are added and read, never changed.
create table if not exists admin.audit (
  project_id uuid not null references projects.projects on delete cascade,
  audit_id   uuid not null,
  at         timestamptz(3) not null,
  actor_kind text not null constraint audit_actor_is_known check (actor_kind in ('person', 'key', 'operator', 'service')),
  actor_id   uuid,
  action     text not null constraint audit_action_is_short check (length(action) between 1 and 120),
  targets    jsonb not null constraint audit_targets_are_named check (jsonb_typeof(targets) = 'object'),
  request_id text constraint audit_request_id_is_short check (length(request_id) <= 128),
  primary key (project_id, audit_id)
);
create index if not exists audit_by_actor on admin.audit (project_id, actor_id, audit_id);
create index if not exists audit_by_action on admin.audit (project_id, action, audit_id);
select base.isolate_table('admin.audit');
select base.declare_columns('admin.audit', '{}', '{}',
  '{project_id,audit_id,at,actor_kind,actor_id,action,targets,request_id}');
grant select, insert on admin.audit to trunkline_runtime;

-- The same for what belongs to no project.
create table if not exists admin.installation_audit (
  audit_id   uuid primary key,
  at         timestamptz(3) not null,
  actor_kind text not null constraint installation_audit_actor_is_known
    check (actor_kind in ('person', 'key', 'operator', 'service')),
  actor_id   uuid,
  action     text not null constraint installation_audit_action_is_short check (length(action) between 1 and 120),
  targets    jsonb not null constraint installation_audit_targets_are_named check (jsonb_typeof(targets) = 'object'),
  request_id text constraint installation_audit_request_id_is_short check (length(request_id) <= 128)
);
select base.declare_columns('admin.installation_audit', '{}', '{}',
  '{audit_id,at,actor_kind,actor_id,action,targets,request_id}');
grant select, insert on admin.installation_audit to trunkline_runtime;

-- Sessions have a name that opens nothing, by which their person ends them.
alter table admin.sessions add column if not exists session_id uuid not null default gen_random_uuid();
select base.declare_columns('admin.sessions', '{}', '{}', '{session_id}');
grant update (is_admin), delete on admin.people to trunkline_runtime;

--! Included admin/forget_audit.sql
-- Forgets the entries of a project's audit log that are older than a moment, and than two years; answers how many.
--
-- The one way in which entries go: the runtime role may only read and add. Whatever it asks for, two years stay.
-- Without a project it is about the entries that belong to none.
create or replace function admin.forget_audit(project_id uuid, before timestamptz)
returns integer
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  v_before timestamptz := least(forget_audit.before, now() - interval '24 months');
  v_count  integer;
begin
  if forget_audit.project_id is null then
    delete from admin.installation_audit as entry where entry.at < v_before;
  else
    perform set_config('trunkline.project_id', forget_audit.project_id::text, true);
    delete from admin.audit as entry
    where entry.project_id = forget_audit.project_id and entry.at < v_before;
  end if;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;

revoke all on function admin.forget_audit(uuid, timestamptz) from public;
grant execute on function admin.forget_audit(uuid, timestamptz) to trunkline_runtime;
--! EndIncluded admin/forget_audit.sql
