// What there is of a project's people, as SQL: few statements, and ids by time, as the service makes them.

/** How far back everything goes. */
export const DAYS = 180;

/**
 * What the statements below are written with. A moment is a share of the past; an id is of a moment and of what it is
 * of. All of it is of one session and one `until`, or the same thing would get two ids.
 */
export const wordsUntil = (until: Date): string => `
  create or replace function pg_temp.moment(share double precision) returns timestamptz language sql immutable as
    $$ select '${until.toISOString()}'::timestamptz - (1 - share) * interval '${DAYS} days' $$;
  create or replace function pg_temp.id_at(at timestamptz, what text) returns uuid language sql immutable as
    $$ select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
      || '7' || substr(md5(what), 1, 3) || '8' || substr(md5(what), 4, 15))::uuid $$;
  set session_replication_role = replica;
  set synchronous_commit = off;
  set work_mem = '256MB'`;

/** The project that the others are about: one row. */
export const WORLD = `
  create temp table world as
  select $1::uuid as project_id, $2::int as people, $3::uuid[] as automations, $4::uuid[] as segments,
    $5::uuid as provider_id, $6::uuid as template_id, $7::uuid as busy_id, $8::uuid as idle_id`;

/** Everybody, the first first. Searches must find some, so of those the address keys are the service's: $1, $2. */
export const EVERYBODY = `
  create temp table person as
  select made.*, pg_temp.id_at(at, 'profile' || made.n) as profile_id,
    pg_temp.id_at(at, 'identity' || made.n) as identity_id, 'user-' || made.n as external_id,
    'user-' || made.n || '@people.test' as email,
    coalesce(known.address_key, sha256(convert_to(project_id::text || made.n, 'UTF8'))) as address_key
  from (
    select world.*, n, pg_temp.moment(n / people::double precision) as at
    from world cross join generate_series(1, world.people) as n
  ) as made
  left join unnest($1::int[], $2::bytea[]) as known (n, address_key) on known.n = made.n`;

/** One in ten came as a device before; a few of those links were refused or undone. */
const WHO_THEY_ARE: readonly string[] = [
  `insert into profiles.profiles (project_id, profile_id, email, traits, created_at, updated_at)
   select project_id, profile_id, email, jsonb_build_object('email', email, 'first_name', 'Ann', 'plan',
     case n % 3 when 0 then 'pro' else 'free' end), at, at from person`,
  `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id, first_seen_at,
     last_seen_at)
   select project_id, identity_id, 'external', external_id, profile_id, profile_id, at, pg_temp.moment(1) from person`,
  `insert into profiles.traits (project_id, identity_id, key, value, set_at, authority)
   select project_id, identity_id, told.key, told.value, at, 'server' from person
   cross join lateral (values ('email', to_jsonb(email)), ('plan', '"pro"'::jsonb)) as told (key, value)`,
  `create temp table device as
   select *, pg_temp.id_at(at, 'device' || n) as device_id, pg_temp.id_at(at, 'visitor' || n) as visitor_id,
     'device-' || n as anonymous_id,
     case n % 1000 when 0 then 'refused' when 500 then 'undone' else 'active' end as status
   from person where n % 10 = 0`,
  `insert into profiles.profiles (project_id, profile_id, created_at, updated_at, merged_into)
   select project_id, visitor_id, at, at, case when status = 'active' then profile_id end from device`,
  `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id, first_seen_at,
     last_seen_at)
   select project_id, device_id, 'anonymous', anonymous_id, case when status = 'active' then profile_id else visitor_id
     end, visitor_id, at, pg_temp.moment(1) from device`,
  `insert into identity.links (project_id, link_id, anonymous_identity_id, external_identity_id, anonymous_id,
     external_id, profile_id, anonymous_profile_id, source, key_type, status, reason, created_at, undone_at, undone_by)
   select project_id, pg_temp.id_at(at, 'link' || n), device_id, identity_id, anonymous_id, external_id, profile_id,
     visitor_id, case when n % 2000 = 10 then 'alias' else 'identify' end,
     case when n % 2000 = 10 then 'server' else 'publishable' end, status,
     case status when 'refused' then 'linked_to_another' end, at,
     case status when 'undone' then at end, case status when 'undone' then 'console' end
   from device`,
];

/** Three events each, the older people more; two thousand are of one of the first, in every project. */
const WHAT_HAPPENED = `
  insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, anonymous_id,
    properties, source, key_kind)
  select project_id, pg_temp.id_at(at, 'event' || e), at, at,
    (array['page_viewed', 'element_clicked', 'report_exported', 'order_placed', 'plan_viewed'])[1 + e % 5],
    case when n % 10 > 0 or e % 2 = 0 then 'user-' || n end, case when n % 10 = 0 then 'device-' || n end,
    '{"path": "/pricing", "plan": "pro"}', case when n % 10 = 0 then 'browser' else 'server' end, 'server'
  from (
    select project_id, e, pg_temp.moment(e / (3.0 * people)) as at,
      case when e % (people * 3 / 2000) = 0 then 7 else 1 + (hashint4(e) & 2147483647) % greatest(1, e / 3) end as n
    from world cross join generate_series(1, 3 * world.people) as e
  ) as made`;

const WHO_IS_LEFT_ALONE: readonly string[] = [
  `insert into suppression.addresses (project_id, address_key, email, reason, source, suppressed_at, unsubscribed_at)
   select project_id, address_key, email,
     case when n % 1000 = 20 then 'complaint' when n % 20 = 0 then 'hard_bounce' end,
     case when n % 20 = 0 then 'webhook/smtp' end, case when n % 20 = 0 then at end,
     case when n % 50 = 3 then at end from person`,
  `insert into suppression.history (project_id, history_id, address_key, change, reason, source, changed_at)
   select project_id, pg_temp.id_at(at, 'said' || n), address_key,
     case when n % 20 = 0 then 'suppressed' else 'unsubscribed' end, case when n % 20 = 0 then 'hard_bounce' end,
     'webhook/smtp', at from person where n % 20 = 0 or n % 50 = 3`,
];

/**
 * A mail each. The oldest are unknown or were never delivered, the newest wait: whoever looks for those goes past all
 * others. Of one in five there is a run, and of the newest of them everybody is on their way.
 */
const WHAT_WAS_SENT: readonly string[] = [
  `insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, profile_id, identity_id,
     provider_id, template_id, template_version, address_key, recipient, subject, status, status_reason, attempt_count,
     due_at, queued_at, expires_at, handed_off_at, accepted_at, provider_message_id, delivered_at, bounced_at,
     complained_at)
   select project_id, pg_temp.id_at(at, 'send' || n), automation_id, pg_temp.id_at(at, 'run' || n), 'welcome',
     profile_id, identity_id, provider_id, template_id, 1, address_key, email, 'Welcome', status,
     case when status not in ('accepted', 'queued') then 'hard_bounce' end, 1, pg_temp.moment(2), at,
     pg_temp.moment(3), at, accepted_at, '<' || n || '@shop.test>',
     case when n > people / 500 and n % 100 <> 10 then accepted_at end,
     case when n % 100 = 10 then accepted_at end, case when n % 1000 = 20 then accepted_at end
   from (
     select person.*, stood.status, case stood.status when 'accepted' then at + interval '2 seconds' end as accepted_at,
       automations[case when n % 10 < 6 then 1 else 2 + n % (cardinality(automations) - 1) end] as automation_id
     from person cross join lateral (
       select case when n <= people / 1000 then 'unknown' when n > people - people / 1000 then 'queued'
         else coalesce((array['suppressed', 'expired', 'cancelled', 'failed_render', 'rejected', 'not_sent'])[n % 100],
           'accepted') end as status
     ) as stood
   ) as made`,
  `insert into delivery.attempts (project_id, send_id, attempt, message_id, lease_owner, started_at, ended_at, outcome)
   select project_id, pg_temp.id_at(at, 'send' || n), 1, '<' || n || '@shop.test>', 'bench', at, at, 'accepted'
   from person where n % 10 = 0`,
  `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, trigger_event_id,
     trigger_event_at, entry_key, status, step_id, wake_at, started_at, ended_at, outcome)
   select project_id, pg_temp.id_at(at, 'run' || n),
     automations[case when n % 10 < 6 then 1 else 2 + n % (cardinality(automations) - 1) end], 1, identity_id,
     pg_temp.id_at(at, 'trigger' || n), at, 'once/' || identity_id, status, case status when 'active' then 'pause' end,
     case status when 'active' then pg_temp.moment(2) end, at, case status when 'ended' then at end,
     case when status = 'ended' then case when n % 25 = 0 then 'converted' else 'completed' end end
   from (
     select person.*,
       case when n > people * 3 / 4 then 'active' when n % 5000 = 0 then 'failed' else 'ended' end as status
     from person where n % 5 = 0
   ) as made`,
  `insert into automations.run_log (project_id, run_id, entry, step_id, decision, decided_at)
   select project_id, pg_temp.id_at(at, 'run' || n), 1, 'welcome', 'sent', at from person where n % 5 = 0`,
  `insert into feedback.notices (project_id, source, dedupe_key, kind, bounce_type, address_key, send_id, occurred_at,
     received_at)
   select project_id, 'smtp', md5('notice' || n), case n % 100 when 10 then 'bounced' else 'delivered' end,
     case n % 100 when 10 then 'hard' end, address_key, pg_temp.id_at(at, 'send' || n), at, at
   from person where n % 10 = 0`,
];

/** Of the first segment a third are members, of each next one fewer, of the last nobody. */
const WHO_IS_ALIKE: readonly string[] = [
  `create temp table member as
   select project_id, at, profile_id, segments[segment] as segment_id, row_number() over (order by n, segment) as entry
   from person cross join lateral (values (1, n % 10 < 3), (2, n % 20 between 3 and 5), (3, n % 25 = 6),
     (4, n % 100 = 7), (5, n % 1000 = 8)) as asked (segment, is_member)
   where is_member`,
  `insert into segments.members (project_id, segment_id, profile_id, entered_at)
   select project_id, segment_id, profile_id, at from member`,
  `insert into segments.history (project_id, entry, segment_id, version, profile_id, change, cause, changed_at)
   select project_id, entry, segment_id, 1, profile_id, 'entered', 'change', at from member`,
  `update segments.projects as project set due_at = null, last_entry = (select max(entry) from member)
   from world where project.project_id = world.project_id`,
  `update segments.segments as segment set status = 'ready', active_version = 1, filled_at = now()
   from world where segment.project_id = world.project_id`,
];

/** Of ten, the oldest, somebody who does little did what is seldom done. */
const WHAT_WAS_CHANGED = `
  insert into admin.audit (project_id, audit_id, at, actor_kind, actor_id, action, targets)
  select project_id, pg_temp.id_at(at, 'audit' || n), at, 'person', case when n > 100 then busy_id else idle_id end,
    case when n > 100 then (array['segments.change', 'templates.save', 'automations.save'])[1 + n % 3]
      else 'keys.revoke' end, '{}'
  from person where n % 10 = 0`;

/** Everything of a project, in its order. */
export const PAST: readonly string[] = [
  ...WHO_THEY_ARE,
  WHAT_HAPPENED,
  ...WHO_IS_LEFT_ALONE,
  ...WHAT_WAS_SENT,
  ...WHO_IS_ALIKE,
  WHAT_WAS_CHANGED,
  `insert into automations.endpoints (project_id, endpoint_id, name, url, status, created_at, updated_at)
   select project_id, idle_id, 'Shop', 'https://shop.test/hooks', 'active', now(), now() from world`,
];
export const FORGET = 'drop table if exists world, person, device, member';
