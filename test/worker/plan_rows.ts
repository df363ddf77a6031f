import { OLD_PEOPLE_ROWS } from './plan_old_people.ts';
import {
  insert,
  keyOf,
  of,
  oldOf,
  project,
  projects,
  PROJECTS,
  provider,
  PROVIDERS,
} from './plan_sets.ts';

export const SENDS = 3_000;

const WAITING = PROVIDERS * SENDS;

const sendColumns =
  'project_id, send_id, run_id, step_id, profile_id, provider_id, template_id, template_version, address_key, ' +
  'recipient, status, attempt_count, due_at, queued_at, expires_at, handed_off_at, accepted_at, lease_owner';
const send = (id: string, rest: string, providerId = provider): string =>
  `${project}, ${id}, ${id}, 'a', ${id}, ${providerId}, ${id}, 1, ${keyOf('p')}, 'a@b.test', ${rest}`;

/**
 * Rows as a busy installation has them, set by set. Foreign keys are off while they are written, so that rows which no
 * statement on a clock reads can be left out.
 */
export const FILL: readonly string[] = [
  'set session_replication_role = replica',
  `insert into projects.projects (project_id, name, created_at)
   select ${project}, 'p' || p, now() from ${projects}`,
  insert(
    'providers.providers',
    'project_id, provider_id, provider, display_name, from_email, key_version, secret, status, created_at, updated_at',
    `${project}, ${provider}, 'relay_api', 'Relay', 'a' || s || '@b.test', 1, '', 'active', now(), now()`,
    PROVIDERS,
  ),
  insert(
    'providers.paces',
    'project_id, provider_id, ramp_day, ramp_count',
    // Those of one project warm up.
    `${project}, ${provider}, case when p = 1 then (now() at time zone 'UTC')::date end, (p = 1)::int * 10`,
    PROVIDERS,
  ),
  insert(
    'providers.domain_checks',
    'project_id, provider_id, next_check_at',
    `${project}, ${provider}, now() + interval '1 day'`,
    PROVIDERS,
  ),
  `insert into suppression.addresses (project_id, address_key, email)
   select ${project}, ${keyOf('p')}, 'a@b.test' from ${projects}`,
  insert(
    'delivery.sends',
    sendColumns,
    send(
      of('p', '1000 + s'),
      `'queued', 0, now() - interval '1 hour' + s * interval '1 ms', now() - interval '1 hour',
       now() + interval '1 day', null, null, case when s % 100 = 0 then 'living' end`,
    ),
    WAITING,
  ),
  insert(
    'delivery.sends',
    sendColumns,
    send(
      of('p', '500000 + s'),
      `'unknown', 1, 'infinity', now() - interval '1 day', now() + interval '1 day', now() - interval '1 day', null,
       null`,
    ),
    4_000,
  ),
  insert(
    'delivery.sends',
    sendColumns,
    send(
      oldOf('p', 's'),
      `'accepted', 1, '2022-01-01', '2022-01-01', '2022-01-02', '2022-01-01', '2022-01-01', null`,
    ),
    4_000,
  ),
  insert(
    'delivery.contents',
    'project_id, send_id, subject, html, text',
    `${project}, ${oldOf('p', 's')}, 'a', 'a', 'a'`,
    4_000,
  ),
  insert(
    'delivery.attempts',
    'project_id, send_id, attempt, message_id, lease_owner, started_at, outcome, reply_text',
    `${project}, ${oldOf('p', 's')}, 1, 'm' || s, 'gone', '2022-01-01', 'accepted', 'Ok'`,
    4_000,
  ),
  insert(
    'delivery.ended',
    'project_id, step_id, send_ids, ended_at',
    `${project}, ${of('p', 's')}, '{}', now()`,
    10_000,
  ),
  insert(
    'automations.automations',
    'project_id, automation_id, name, status, active_version, created_at, updated_at',
    `${project}, ${of('p', 's')}, 'a', 'active', 1, now(), now()`,
    50,
  ),
  insert(
    'automations.versions',
    'project_id, automation_id, version, definition, created_at',
    `${project}, ${of('p', 's')}, 1, '{"settings": {"frequency_cap": null}}', now()`,
    50,
  ),
  insert(
    'automations.runs',
    'project_id, run_id, automation_id, version, identity_id, entry_key, status, wake_at, started_at, ended_at',
    `${project}, ${of('p', '1000 + s')}, ${of('p', 's % 50 + 1')}, 1, ${of('p', 's')}, s::text, 'active',
     now() + interval '1 day', now(), null`,
    40_000,
  ),
  insert(
    'automations.runs',
    'project_id, run_id, automation_id, version, identity_id, entry_key, status, wake_at, started_at, ended_at',
    `${project}, ${oldOf('p', 's')}, ${of('p', 's % 50 + 1')}, 1, ${of('p', 's')}, 'old' || s, 'ended', null,
     '2022-01-01', '2022-01-01'`,
    20_000,
  ),
  insert(
    'automations.pending_merges',
    'project_id, profile_id, walked_to, is_undo, noted_at',
    `${project}, ${of('p', 's')}, ${of('p', '1')}, false, now()`,
    10_000,
  ),
  insert(
    'automations.run_log',
    'project_id, run_id, entry, step_id, decision, decided_at',
    `${project}, ${oldOf('p', 's')}, 1, 'a', case s % 9 when 0 then 'split' else 'sent' end, '2022-01-01'`,
    20_000,
  ),
  insert(
    'automations.calls',
    'project_id, call_id, run_id, step_id, endpoint_id, status, queued_at, expires_at',
    `${project}, ${oldOf('p', 's')}, ${oldOf('p', 's')}, 'a', ${of('p', '1')}, 'delivered', '2022-01-01',
     '2022-01-02'`,
    10_000,
  ),
  insert(
    'automations.segment_starts',
    'project_id, start_id, automation_id, segment_id, status, walked_to, requested_at, ended_at',
    `${project}, ${of('p', 's')}, ${of('p', '1')}, ${of('p', '1')}, 'done', ${of('p', '0')}, now(), now()`,
    2_000,
  ),
  insert(
    'automations.segment_starts',
    'project_id, start_id, automation_id, segment_id, status, walked_to, requested_at, ended_at',
    `${project}, ${oldOf('p', 's')}, ${of('p', 's % 50 + 1')}, ${of('p', '1')}, 'done', ${of('p', '0')},
      '2021-12-28', '2022-01-01'`,
    2_000,
  ),
  insert(
    'automations.schedules',
    'project_id, automation_id, version, status, occurrence, next_at',
    `${project}, ${of('p', 's')}, 1, 'active', '2040-01-10T09:00', '2040-01-10'`,
    50,
  ),
  ...OLD_PEOPLE_ROWS,
  'update base.sending set runs_prunable_from = now()',
  `insert into automations.segment_readers select ${project}, 0 from ${projects}`,
  `insert into segments.projects (project_id, last_entry) select ${project}, 0 from ${projects}`,
  insert(
    'segments.history',
    'project_id, entry, segment_id, version, profile_id, change, cause, changed_at',
    `${project}, s, ${of('p', '1')}, 1, ${of('p', 's % 5000')}, 'entered', 'change', '2022-01-01'`,
    4_000,
  ),
  insert(
    'segments.wakeups',
    'project_id, profile_id, wake_at',
    `${project}, ${of('p', 's')}, now() + interval '1 day'`,
    20_000,
  ),
  insert(
    'profiles.changes',
    'project_id, noted_at, change_id, profile_id',
    `${project}, now(), ${of('p', 's')}, ${of('p', 's')}`,
    5_000,
  ),
  insert(
    'profiles.erasures',
    'project_id, erasure_id, profile_id, status, requested_by, requested_at, done_at, receipt',
    `${project}, ${of('p', 's')}, ${of('p', 's')}, 'done', 'server_key', now(), now(), '{}'`,
    2_000,
  ),
  insert(
    'ingest.pending',
    'project_id, flush_id, event_ids, occurred_from, occurred_to, received_at',
    `${project}, ${of('p', 's')}, '{}', now(), now(), now()`,
    5_000,
  ),
  insert(
    'feedback.notices',
    'project_id, source, dedupe_key, kind, occurred_at, received_at',
    `${project}, 'mailgun', s::text, 'delivered', now(), timestamptz '2022-01-01' + (s % 2) * interval '10 years'`,
    4_000,
  ),
  insert(
    'feedback.posts',
    'project_id, source, post_key, body_key, received_at',
    `${project}, 'mailgun', s::text, 'a', now()`,
    5_000,
  ),
  insert(
    'admin.audit',
    'project_id, audit_id, at, actor_kind, action, targets',
    `${project}, ${of('p', 's')}, now(), 'service', 'a', '{}'`,
    5_000,
  ),
  insert(
    'http.idempotency_keys',
    'project_id, key_hash, fingerprint, repetition_id, claim_id, created_at',
    `${project}, ${keyOf('s')}, ${keyOf('s')}, ${of('p', 's')}, ${of('p', 's')}, now()`,
    5_000,
  ),
  insert(
    'quotas.key_days',
    'project_id, key_id, day, counted_by, new_profiles, stored_bytes',
    `${project}, ${of('p', 's')}, current_date, 'accept', 0, 1`,
    5_000,
  ),
  // Jobs have keys: there is one for each provider, and some for each project.
  `insert into graphile_worker._private_jobs (task_id, payload, run_at)
   select 1, '{}', now() + interval '1 day' from generate_series(1, ${PROJECTS * (PROVIDERS + 8)})`,
  'set session_replication_role = origin',
];
