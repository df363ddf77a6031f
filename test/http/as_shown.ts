import { beforeAll } from 'vitest';
import { createEndpoint } from '../../src/automations/endpoints.ts';
import { DEFINITION_SHOWN } from '../../src/automations/shown.ts';
import { newId } from '../../src/base/ids.ts';
import { toCurl } from '../../src/http/docs_curl.ts';
import type { Endpoint } from '../../src/http/openapi_read.ts';
import { inProject } from '../../src/base/db.ts';
import { createProject } from '../../src/projects/projects.ts';
import { openCredential, sealCredential } from '../../src/providers/providers.ts';
import { createProvider } from '../../src/providers/records.ts';
import { importPeople } from '../../src/segments/import_people.ts';
import { Definition } from '../../src/segments/schema.ts';
import { createSegment } from '../../src/segments/segments.ts';
import { DEFINITION_SHOWN as SEGMENT_SHOWN } from '../../src/segments/shown.ts';
import { snsService } from '../feedback/sns_service.ts';
import type { Answer, Call, TestApi } from '../support/api.ts';
import { NEVER } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import type { HttpsSink } from '../support/https_sink.ts';
import { keepTemplateAsIs } from '../support/kept_template.ts';
import { API_KEY, relaySink } from '../support/relay_sink.ts';
import { refreshSegments } from '../support/refresh_segments.ts';
import { readCurl } from './read_curl.ts';
import { PENDING_TOPIC_ID_SHOWN } from '../../src/feedback/shown.ts';
import { SHOWN_ID } from './shown_id.ts';
import { planShownSend, sendStatusOf } from './shown_sends.ts';
import { keepShownTopics } from './shown_topics.ts';

export { SHOWN_ID };

/** Whose address it is in the examples of the documents. */
export const SHOWN_EMAIL = 'bob@example.com';

type Project = TestApi['project'];

/** An endpoint as its example in the documents calls it, with a project's own tokens. */
export const toShown = (
  endpoint: Endpoint,
  project: Project,
): { method: string; path: string; call: Call } => {
  const { url, method, ...call } = readCurl(toCurl(endpoint).replace('{base_url}', ''), project);
  const namesProject = /\/(?:webhooks|projects)\//.test(url);
  const path = namesProject ? url.replace(SHOWN_ID, project.project_id) : url;
  return { method, path, call: { ...call, contentType: null } };
};

/** A provider that works where `shownRelay` is, and another sender than the one that is made as shown. */
export const keepShownProvider = async (
  database: TestDatabase,
  projectId: string,
): Promise<void> => {
  const provider = {
    provider: 'relay_api' as const,
    display_name: 'Shown',
    from_email: 'shown@example.com',
    from_name: null,
    reply_to: null,
    api_key: API_KEY,
  };
  await createProvider(database.deps, projectId, SHOWN_ID, provider);
};

/** A segment that Ann is in, and a list of one that she was imported into. */
const makeShownSegment = async (
  { deps }: TestDatabase,
  projectId: string,
  isStatic = false,
): Promise<void> => {
  const definition = isStatic ? null : Definition.parse(SEGMENT_SHOWN);
  const shown = { segmentId: SHOWN_ID, name: 'New on Pro', definition };
  const list = { segmentId: newId(), importId: SHOWN_ID };
  await inProject(deps, projectId, async (scope) => {
    await createSegment(scope, shown);
    await createSegment(scope, { segmentId: list.segmentId, name: 'Guests', definition: null });
    await importPeople(scope, list, { people: [{ external_id: 'ann' }] });
  });
  await refreshSegments(deps, projectId, { signal: NEVER });
};

/** How the automation of the examples stands where an endpoint is asked what its example shows. */
const STANDS: Record<string, string> = {
  pause: 'active',
  move: 'active',
  retry: 'active',
  runs: 'active',
  'segment-starts': 'active',
  resume: 'paused',
};

/** What an endpoint has to find, and how that stands, so that it does what its example shows. */
const needsOf = ({ method, path }: Partial<Endpoint> = {}) => {
  const [, , room, , verb = ''] = path?.split('/') ?? [];
  return {
    // They take as long as everything else, and what has nothing to do with segments does without.
    hasSegments: path === undefined || /segment|automation|start/.test(path),
    isSegmentStatic: path?.endsWith('/imports') ?? false,
    automation: room === 'automations' ? (STANDS[verb] ?? 'draft') : 'draft',
    isByHand: verb === 'runs' || verb === 'segment-starts',
    isMoved: verb === 'move',
    run: { move: 'active', retry: 'failed' }[verb],
    isTemplateArchived: path?.endsWith('/templates/{id}/restore') ?? false,
    hasSigningKey: method === 'DELETE' && path?.endsWith('/signing-key') === true,
    topicId: path?.endsWith('/reject-topics') === true ? PENDING_TOPIC_ID_SHOWN : SHOWN_ID,
    isTopicConfirmed: method === 'DELETE' && path?.includes('/topics/') === true,
    sendStatus: sendStatusOf(path),
  };
};
type Needs = ReturnType<typeof needsOf>;

/** The automation of the examples, and the template that it sends. */
const keepShownAutomation = async (
  { owner }: TestDatabase,
  projectId: string,
  { automation: status, isByHand, isMoved, run }: Needs,
): Promise<void> => {
  const trigger = isByHand ? { kind: 'manual' } : DEFINITION_SHOWN.trigger;
  const definition = JSON.stringify({ ...DEFINITION_SHOWN, trigger });
  const version = `insert into automations.versions values ($1, $2, $3, $4, now())`;
  await keepTemplateAsIs(owner, projectId, SHOWN_ID);
  await owner.query(
    `insert into automations.automations values ($1, $2, 'Welcome', 'draft', null, now(), now())`,
    [projectId, SHOWN_ID],
  );
  await owner.query(version, [projectId, SHOWN_ID, 1, definition]);
  if (isMoved) await owner.query(version, [projectId, SHOWN_ID, 2, definition]);
  if (run !== undefined)
    await owner.query(
      `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, entry_key, status,
        step_id, wake_at, started_at)
       values ($1, $2, $2, 1, $2, 'x', $3, 'welcome', now() + interval '1 day', now())`,
      [projectId, SHOWN_ID, run],
    );
  await owner.query(
    `update automations.automations set status = $2, active_version = case when $2 = 'draft' then null else $3::int end
     where project_id = $1`,
    [projectId, status, isMoved ? 2 : 1],
  );
};

/** An endpoint of webhook steps, with its secret, and the start of everybody in a segment. */
const keepShownCalls = async ({ deps, owner }: TestDatabase, projectId: string): Promise<void> => {
  const endpoint = {
    endpointId: SHOWN_ID,
    name: 'CRM',
    url: 'https://example.com/hooks',
    eventTypes: ['email.bounced', 'system.*'],
  };
  const vault = { seal: sealCredential, open: openCredential };
  await inProject(deps, projectId, (scope) => createEndpoint(scope, vault, endpoint));
  await owner.query(
    `insert into automations.segment_starts (project_id, start_id, automation_id, segment_id, status, walked_to,
       requested_at)
     values ($1, $2, $2, $2, 'running', $2, now())`,
    [projectId, SHOWN_ID],
  );
};

/** The provider that the examples of the documents are connected to, and Amazon SNS, in place of the real ones. */
export const shownRelay = (database: TestDatabase, sns = snsService()): HttpsSink => {
  const sink = relaySink();
  beforeAll(() => {
    const config = { ...database.deps.config, relayApiUrl: sink.url, snsUrl: sns.url };
    database.deps = { ...database.deps, config };
  });
  return sink;
};

/**
 * Makes a project in which the examples of the documents find what they name, as the endpoint that is
 * asked needs it, and makes it the api's.
 */
export const makeShownProject = async (
  database: TestDatabase,
  api: TestApi,
  one?: Endpoint,
): Promise<void> => {
  const needs = needsOf(one);
  api.project = await createProject(database.deps, 'shown');
  const { project_id, server_key: key } = api.project;
  const post = (path: string, body: object) => api.call('POST', path, { key, body });
  const ann = { external_id: 'ann' };
  await post('/v1/events', {
    ...ann,
    event: 'user_signed_up',
    properties: { plan: 'pro', seats: 3 },
  });
  const traits = { email: 'ann@example.com', first_name: 'Ann' };
  await post('/v1/identify', { ...ann, traits });
  await api.processEvents();
  await post('/v1/identify/alias', { ...ann, anonymous_id: 'device-7' });
  if (needs.hasSegments) await makeShownSegment(database, project_id, needs.isSegmentStatic);
  await database.owner.query('update identity.links set link_id = $1 where project_id = $2', [
    SHOWN_ID,
    project_id,
  ]);
  await keepShownProvider(database, project_id);
  await keepShownAutomation(database, project_id, needs);
  const archive = 'update rendering.heads set archived_at = now() where project_id = $1';
  if (needs.isTemplateArchived) await database.owner.query(archive, [project_id]);
  await keepShownCalls(database, project_id);
  await planShownSend(database, project_id, needs.sendStatus);
  const list = { addresses: [{ email: SHOWN_EMAIL }] };
  await api.call('POST', '/v1/suppression-imports', { key, body: list });
  await database.owner.query(
    'update suppression.history set import_id = $1 where project_id = $2 and import_id is not null',
    [SHOWN_ID, project_id],
  );
  const shownTopic = { shownId: needs.topicId, isConfirmed: needs.isTopicConfirmed };
  await keepShownTopics(database, project_id, shownTopic);
  const signing = `/v1/projects/${project_id}/webhooks/mailgun/signing-key`;
  if (needs.hasSigningKey) await post(signing, { signing_key: 'shown' });
  await database.owner.query(
    `insert into profiles.erasures (project_id, erasure_id, profile_id, status, requested_by, requested_at)
     values ($1, $2, $2, 'pending', 'server_key', now())`,
    [project_id, SHOWN_ID],
  );
};

/** The same for whoever changes nothing there: one project for all endpoints that have to find the same. */
export const shownProjects = (database: TestDatabase, api: TestApi) => {
  const made = new Map<string, Project>();
  return async (one?: Endpoint): Promise<void> => {
    const needs = JSON.stringify(needsOf(one));
    if (!made.has(needs)) await makeShownProject(database, api, one);
    api.project = made.get(needs) ?? api.project;
    made.set(needs, api.project);
  };
};

export const callAsShown = (
  endpoint: Endpoint,
  api: TestApi,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const { method, path, call } = toShown(endpoint, api.project);
  return api.call(method, path, { ...call, headers: { ...call.headers, ...headers } });
};
