--! Previous: sha1:99c5606234266b013d1038d65e442910a25b85f0
--! Hash: sha1:83983528f15fa6f66b159cab53838915cc6be006
--! Message: sender_domains_are_checked_daily

-- What the daily check of a sender's domain looks for, when it is due, and what it has found last.
create table if not exists providers.domain_checks (
  project_id       uuid not null,
  provider_id      uuid not null,
  dkim_selectors   text[] not null default '{}',
  mail_from_domain text,
  next_check_at    timestamptz(3) not null,
  check_id         uuid,
  checked_at       timestamptz(3),
  health           jsonb,
  known            jsonb,
  fallen           jsonb not null default '{}',
  unanswered_count integer not null default 0,
  constraint domain_checks_pkey primary key (project_id, provider_id),
  constraint domain_checks_project_id_provider_id_fkey foreign key (project_id, provider_id)
    references providers.providers (project_id, provider_id) on delete cascade,
  constraint domain_checks_are_whole check (num_nonnulls(check_id, checked_at, health, known) in (0, 4)),
  constraint domain_checks_unanswered_are_counted check (unanswered_count >= 0)
);
create index if not exists domain_checks_by_due on providers.domain_checks (project_id, next_check_at);
select base.isolate_table('providers.domain_checks');
grant select, insert, update, delete on providers.domain_checks to trunkline_runtime;
select base.declare_columns('providers.domain_checks', '{}', '{}',
  '{project_id,provider_id,dkim_selectors,mail_from_domain,next_check_at,check_id,checked_at,health,known,fallen,
    unanswered_count}');

-- What has changed from one check to the next.
create table if not exists providers.domain_changes (
  project_id  uuid not null,
  provider_id uuid not null,
  change_id   uuid not null,
  changed_at  timestamptz(3) not null,
  domain      text not null,
  status      text not null,
  is_worse    boolean not null,
  changes     jsonb not null,
  constraint domain_changes_pkey primary key (project_id, provider_id, change_id),
  constraint domain_changes_project_id_provider_id_fkey foreign key (project_id, provider_id)
    references providers.providers (project_id, provider_id) on delete cascade,
  constraint domain_changes_status_is_known check (status in ('good', 'warning', 'bad', 'unknown'))
);
select base.isolate_table('providers.domain_changes');
grant select, insert, delete on providers.domain_changes to trunkline_runtime;
select base.declare_columns('providers.domain_changes', '{}', '{}',
  '{project_id,provider_id,change_id,changed_at,domain,status,is_worse,changes}');

--! Included providers/claim_domain_checks.sql
-- Claims the checks of senders' domains that are due, the oldest first: each is due again when its lease is over.
--
-- Providers without a check get one: those of today at once, the others at some time of the next day, so that the
-- checks of many projects are spread. Checks that another worker holds are left to it.
create or replace function providers.claim_domain_checks(
  project_id    uuid,
  claim_max     integer,
  lease_seconds integer
)
returns setof uuid
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now    timestamptz(3) := now();
  v_lease  timestamptz(3) := v_now + make_interval(secs => claim_domain_checks.lease_seconds);
  v_recent timestamptz(3) := v_now - interval '1 day';
  v_spread timestamptz(3) := v_now + random() * interval '1 day';
  v_due    uuid[];
begin
  insert into providers.domain_checks (project_id, provider_id, next_check_at)
  select claim_domain_checks.project_id, provider.provider_id,
    case when provider.created_at > v_recent then v_now else v_spread end
  from providers.providers as provider
  where provider.project_id = claim_domain_checks.project_id
  and not exists (
    select from providers.domain_checks as known
    where known.project_id = claim_domain_checks.project_id and known.provider_id = provider.provider_id
  )
  order by provider.provider_id
  for key share of provider
  on conflict do nothing;

  select array_agg(due.provider_id) into v_due
  from (
    select checks.provider_id from providers.domain_checks as checks
    where checks.project_id = claim_domain_checks.project_id and checks.next_check_at <= v_now
    order by checks.next_check_at
    limit claim_domain_checks.claim_max
    for update skip locked
  ) as due;

  update providers.domain_checks as checks set next_check_at = v_lease
  where checks.project_id = claim_domain_checks.project_id and checks.provider_id = any (v_due);

  return query select unnest(v_due);
end;
$$;
--! EndIncluded providers/claim_domain_checks.sql
