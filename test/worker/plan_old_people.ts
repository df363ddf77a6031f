import { insert, of, oldOf, project, projects } from './plan_sets.ts';

/** Of each project: people who were not seen for years. */
const OLD_PEOPLE = 6_000;

/** Each an anonymous id alone, with what was counted, refused and refused as a link, and a device. */
export const OLD_PEOPLE_ROWS: readonly string[] = [
  insert(
    'identity.identities',
    'project_id, identity_id, kind, value, profile_id, own_profile_id, first_seen_at, last_seen_at',
    `${project}, ${oldOf('p', 's')}, 'anonymous', 'old ' || s, ${oldOf('p', 's')}, ${oldOf('p', 's')},
      now() - interval '3 years', now() - interval '3 years'`,
    OLD_PEOPLE,
  ),
  insert(
    'profiles.profiles',
    'project_id, profile_id, created_at, updated_at',
    `${project}, ${oldOf('p', 's')}, now() - interval '3 years', now() - interval '3 years'`,
    OLD_PEOPLE,
  ),
  `insert into segments.conditions
   select ${project}, ${of('p', '7')}, 'page_viewed', '[]', true, 'ready', ${project}, now() from ${projects}`,
  insert(
    'segments.counters',
    'project_id, identity_id, condition_id, day, count, first_at, last_at',
    `${project}, ${oldOf('p', 's')}, ${of('p', '7')}, '2023-01-01', 1, now(), now()`,
    OLD_PEOPLE,
  ),
  insert(
    'automations.refusals',
    'project_id, automation_id, identity_id, reason, event_id, event_at, refused_at',
    `${project}, ${project}, ${oldOf('p', 's')}, 'late', ${project}, now() - interval '3 years',
      now() - interval '3 years'`,
    OLD_PEOPLE,
  ),
  insert(
    'identity.links',
    'project_id, link_id, anonymous_identity_id, external_identity_id, anonymous_id, external_id, profile_id, ' +
      'anonymous_profile_id, source, key_type, status, reason, created_at',
    `${project}, ${oldOf('p', 's')}, ${of('p', 's')}, ${of('p', 's')}, 'a', 'b', ${of('p', 's')}, ${of('p', 's')},
      'identify', 'server', 'refused', 'undone_before', now() - interval '3 years'`,
    OLD_PEOPLE,
  ),
  insert(
    'ingest.devices',
    'project_id, anonymous_id, external_id, last_month',
    `${project}, 'old ' || s, 'b', '2022-01-01'`,
    OLD_PEOPLE,
  ),
  insert(
    'feedback.topic_changes',
    'project_id, change_id, topic_arn, change, changed_at',
    `${project}, ${oldOf('p', 's')}, 'a', 'confirmed', now() - interval '3 years'`,
    OLD_PEOPLE,
  ),
];
