import { adoptReady } from '../../src/admin/library.ts';
import { openAlert, resolveAlert } from '../../src/alerts/alerts.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { allow, noteThrottled, park, spend } from '../../src/providers/providers.ts';
import { makeSeed } from '../../src/runtime/seed/make.ts';
import { suppress, unsubscribe } from '../../src/suppression/suppression.ts';
import { sendsOf } from '../delivery/one_send.ts';
import type { TestAdmin } from '../support/admin.ts';
import type { TestApi } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';
import { keepProvider } from '../support/kept_provider.ts';
import { makePerson } from '../support/people.ts';
import { until } from '../support/until.ts';
import { used as asUsed } from '../providers/used.ts';

/** What stands for the parts of a route's path: things of the project that there are. */
export type Params = Record<string, string>;

type Place = { database: TestDatabase; api: TestApi; admin: TestAdmin };

const LONG = 'a-name-that-is-as-long-as-people-make-them-if-nobody-objects';
const PEOPLE = 120;
const EVENTS = 3_000;
const DAYS = 30;

const created = async ({ api }: Place, path: string, body: object): Promise<string> => {
  const answer = await api.call('POST', path, { key: api.project.server_key, body });
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.id;
};

const makeProviders = async ({ database, api }: Place): Promise<string> => {
  const { project_id: projectId } = api.project;
  const [used, parked, paused] = [newId(), newId(), newId()];
  await keepProvider(database, projectId, used);
  await keepProvider(database, projectId, parked, `${LONG}@shop.test`);
  await keepProvider(database, projectId, paused, 'offers@shop.test');
  await inProject(database.deps, projectId, async (scope) => {
    await park(scope, asUsed(parked), 'invalid_key');
    await noteThrottled(scope, asUsed(paused), 1, 3_600_000);
    await spend(scope, paused, await allow(scope, paused), { taken: 0, owner: 'worker-1' });
  });
  return used;
};

/** A ready automation of several ways, switched on, with people who are on their way through it. */
const makeAutomation = async (place: Place, providerId: string): Promise<string> => {
  const { database, api } = place;
  const id = await inProject(database.deps, api.project.project_id, (scope) =>
    adoptReady(scope, 'welcome_series', providerId),
  );
  await created(place, `/v1/automations/${id}/activate`, {});
  for (const name of ['ann', 'bob', LONG]) {
    const traits = { email: `${name}@example.test`, first_name: 'Ann', plan: 'pro' };
    await created(place, '/v1/identify', { external_id: name, traits });
    const properties = { email: traits.email, first_name: 'Ann', plan: 'pro', seats: 3 };
    await created(place, '/v1/events', { event: 'user_signed_up', external_id: name, properties });
  }
  const { server_key: key } = api.project;
  await until('all of them are in', async () => {
    const { body } = await api.call('GET', `/v1/automations/${id}/runs`, { key });
    return body.items.length === 3;
  });
  return id;
};

const makeSegments = async (place: Place): Promise<string> => {
  const bought = { kind: 'event', event: 'order_placed', where: [] };
  const lately = { kind: 'trait', trait: 'last_seen_at', test: { is: 'within_last', days: 3 } };
  const where = {
    kind: 'any',
    of: [
      { ...bought, where: [{ property: 'category', test: { is: 'equals', value: 'paper' } }] },
      { kind: 'all', of: [lately, bought] },
    ],
  };
  await created(place, '/v1/segments', { name: 'On a list' });
  return created(place, '/v1/segments', { name: 'Bought paper', definition: { where } });
};

const MAIL = `<!doctype html><html><body>
  <h1>Getting the most out of it</h1>
  <p>You have been here for two days. Three things that people like to know by now:</p>
  <ol><li>Lists can be shared.</li><li>A share can be taken back.</li><li>Nothing is lost.</li></ol>
</body></html>`;

/** A send of a run of the automation, of which nobody knows whether it arrived, with what it says. */
const makeUnknown = async (
  { database, api }: Place,
  { providerId, automationId }: { providerId: string; automationId: string },
): Promise<string> => {
  const { project_id: projectId, server_key: key } = api.project;
  const read = async (path: string) => (await api.call('GET', path, { key })).body;
  const profileId = (await read(`/v1/profiles?external_id=${LONG}`)).items[0].id as string;
  const runs = await read(`/v1/automations/${automationId}/runs?profile_id=${profileId}`);
  const { tips } = (await read(`/v1/automations/${automationId}`)).definition.steps;
  const sends = sendsOf(database, projectId);
  const { sendId } = await sends.handingOff({
    recipient: `${LONG}@example.test`,
    providerId,
    automationId,
    profileId,
    runId: runs.items[0].id,
    stepId: 'tips',
    templateId: tips.template_id,
    eventOccurredAt: new Date(),
  });
  await database.owner.query(
    `insert into delivery.contents (project_id, send_id, subject, html, text)
     values ($1, $2, 'Welcome', $3, 'Getting the most out of it')`,
    [projectId, sendId, MAIL],
  );
  await sends.end(sendId, 'unknown', { reason: 'outcome_unknown' });
  return sendId;
};

const makePeople = async ({ database, api, admin }: Place): Promise<void> => {
  const { project_id: projectId } = api.project;
  await makePerson(database, { email: 'ann@people.test', projectId, role: 'owner' });
  await makePerson(database, { email: `${LONG}@people.test`, projectId, role: 'viewer' });
  const cookie = await admin.openSession();
  const input = { projectId, email: 'carol@people.test', role: 'editor' };
  await admin.call('invitations.invite', { type: 'mutation', input, cookie });
  for (const [email, name] of [
    ['dan@people.test', 'Dan Miller'],
    [`${LONG}@people.test`, LONG],
  ] as const)
    await admin.call('access.request', {
      type: 'mutation',
      input: { email, name, purpose: 'The newsletter of our choir, about twice a month.' },
    });
};

const makeAddresses = async (place: Place): Promise<string> => {
  const { database, api } = place;
  const { project_id: projectId } = api.project;
  await inProject(database.deps, projectId, async (scope) => {
    await suppress(scope, { email: `${LONG}@example.test`, reason: 'manual', source: 'console' });
    await suppress(scope, { email: 'bob@example.test', reason: 'complaint', source: 'api' });
    await unsubscribe(scope, { email: 'bob@example.test', source: 'link' });
  });
  await database.owner.query(
    `insert into feedback.refusals (project_id, source, refused_count, last_reason, last_refused_at)
     values ($1, 'smtp2go', 12, 'invalid_token', now())`,
    [projectId],
  );
  await created(place, '/v1/webhook-endpoints', {
    name: 'CRM',
    url: 'https://crm.example.com/hooks',
    event_types: ['email.*', 'system.*'],
  });
  return 'bob@example.test';
};

/** Two alerts that are open, and one of the past. */
const makeAlerts = async ({ database, api }: Place, providerId: string): Promise<void> => {
  const said = {
    subject: providerId,
    subjectName: 'Onboarding',
    summary: 'In the last 24 hours 30 of 1000 emails through Onboarding bounced for good: 3 %.',
    fix: 'Look at the bounced emails in the send log.',
    details: {},
  };
  await inProject(database.deps, api.project.project_id, async (scope) => {
    await openAlert(scope, { ...said, kind: 'provider_parked' });
    await resolveAlert(scope, providerId, 'provider_parked');
    await openAlert(scope, { ...said, kind: 'bounce_rate' });
    await openAlert(scope, { ...said, kind: 'topic_pending', subject: 'amazon-ses' });
  });
};

/** Fills the project with a month of people, events and mails, and with whatever the Console has a page for. */
export const fillProject = async (place: Place): Promise<Params> => {
  const { database, api } = place;
  const { project_id: projectId, server_key: key } = api.project;
  const options = { people: PEOPLE, events: EVENTS, days: DAYS, seed: 1, until: new Date() };
  await makeSeed(database.deps, projectId, options);
  const providerId = await makeProviders(place);
  const automationId = await makeAutomation(place, providerId);
  const segmentId = await makeSegments(place);
  const sendId = await makeUnknown(place, { providerId, automationId });
  const email = await makeAddresses(place);
  await makePeople(place);
  await makeAlerts(place, providerId);
  const templates = await api.call('GET', `/v1/projects/${projectId}/templates`, { key });
  const { rows } = await database.owner.query(
    `select link_id, profile_id from identity.links where project_id = $1 and status = 'active'
     order by link_id limit 1`,
    [projectId],
  );
  return {
    projectId,
    providerId,
    automationId,
    segmentId,
    sendId,
    email,
    templateId: templates.body.items[0].id,
    linkId: rows[0].link_id,
    profileId: rows[0].profile_id,
  };
};
