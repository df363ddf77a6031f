// The trace that a request brings goes on in every call that its event leads to, and in nothing else.
import type { IncomingHttpHeaders } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { createEndpoint } from '../../src/automations/endpoints.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { vault } from '../automations/with_endpoint.ts';
import { counterparts, fieldsOf, KINDS, providersOf } from '../providers/counterparts.ts';
import { testWorker } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { httpsSink } from '../support/https_sink.ts';
import { loggedOf } from '../support/logged.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const logged = loggedOf(database);
const sinks = counterparts(database);
const hooks = httpsSink({ usually: () => ({ status: 204 }) });
const api = testApi(database);
testWorker(database);

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';

/** An automation that answers an event with a call and a mail through a provider of each kind. */
const keepAutomation = async (): Promise<void> => {
  const { project_id: projectId } = api.project;
  const { create } = providersOf(api);
  const endpointId = newId();
  const made: string[] = [];
  for (const kind of KINDS) made.push((await create(fieldsOf(sinks, kind))).body.id);
  await inProject(database.deps, projectId, async (scope) => {
    await createEndpoint(scope, vault, { endpointId, name: 'CRM', url: `${hooks.url}/hooks` });
    const template = { name: 'Hello', subject: 'Hello', html: '<p>Hello</p>', text: null };
    const templateId = await saveTemplate(scope, template);
    const mail = (at: number, next: string | null) => ({
      kind: 'send_email' as const,
      provider_id: made[at] ?? '',
      template_id: templateId,
      template_version: 1,
      next,
    });
    await automations.createActive(scope, 'Everything', {
      trigger: { kind: 'event', event: 'signed_up' },
      settings: { re_entry: 'every_time' },
      entry: 'tell',
      steps: {
        tell: { kind: 'webhook', endpoint_id: endpointId, next: 'smtp' },
        smtp: mail(0, 'relay'),
        relay: mail(1, 'cloud'),
        cloud: mail(2, null),
      },
    });
  });
};
beforeAll(keepAutomation);

type Heard = { called: IncomingHttpHeaders[]; mail: string; answered: string };

/** Posts an event of somebody new, and waits for all that comes of it. */
const signUp = async (person: string, traceparent?: string): Promise<Heard> => {
  const { server_key: key } = api.project;
  for (const sink of [hooks, sinks.smtp, sinks.relay, sinks.cloud]) sink.reset();
  const traits = { email: `${person}@people.test` };
  await api.call('POST', '/v1/identify', { key, body: { external_id: person, traits } });
  const { headers } = await api.call('POST', '/v1/events', {
    key,
    body: { event: 'signed_up', external_id: person },
    headers: traceparent === undefined ? {} : { traceparent },
  });
  // The first of each: a call whose answer comes late is made again.
  const heard = () =>
    [hooks, sinks.relay, sinks.cloud].flatMap(({ requests }) => requests.slice(0, 1));
  const isAll = () => heard().length === 3 && sinks.smtp.mails.length > 0;
  await until('a call, and a mail through each', isAll);
  return {
    called: heard().map((request) => request.headers),
    mail: String(sinks.smtp.mails[0]?.raw),
    answered: headers.get('traceparent') ?? '',
  };
};

/** What is kept of traces, wherever there is a place for one. */
const keptOf = async (person: string): Promise<(string | null)[]> => {
  const { rows } = await database.owner.query<{ traceparent: string | null }>(
    `select run.traceparent from automations.runs as run join identity.identities using (project_id, identity_id)
     where value = $1
     union all select traceparent from delivery.sends where recipient = $1 || '@people.test'`,
    [person],
  );
  return rows.map(({ traceparent }) => traceparent);
};

test('to the endpoint, to SMTP2GO and to Amazon SES, each with a parent id of its own', async () => {
  const given = `00-${TRACE_ID}-${PARENT_ID}-01`;
  const { called, mail, answered } = await signUp('ann', given);
  const sent = called.map(({ traceparent }) => String(traceparent));
  for (const traceparent of sent)
    expect(traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`));
  expect(new Set([given, answered, ...sent]).size).toBe(5);
  expect(mail.toLowerCase()).not.toContain('traceparent');
  expect(mail).not.toContain(TRACE_ID);
  expect(await keptOf('ann')).toEqual([answered, answered, answered, answered]);
});

test.each([
  ['ben', undefined],
  ['cid', `00-${TRACE_ID}-${'0'.repeat(16)}-01`],
])('no call has one where %s brings none that is valid: %s', async (person, traceparent) => {
  const { called, answered } = await signUp(person, traceparent);
  expect(answered).not.toContain(TRACE_ID);
  expect(called.map((headers) => headers['traceparent'])).toEqual(Array(3).fill(undefined));
  expect(await keptOf(person)).toEqual([null, null, null, null]);
});

test('lines of hand-offs have its id, where there is one', async () => {
  const write = (statement: string) =>
    database.owner.query(`alter table delivery.sends ${statement}`);
  for (const [person, traceId] of [
    ['dan', TRACE_ID],
    ['eve', undefined],
  ] as const) {
    logged.splice(0);
    await write(`add constraint none_is_taken check (status <> 'accepted') not valid`);
    await signUp(person, traceId && `00-${traceId}-${PARENT_ID}-01`);
    const lines = () =>
      logged
        .filter((line) => line.includes('outcome not written'))
        .map((line) => JSON.parse(line) as { send_id: string; trace_id?: string });
    // One for each send at least: an outcome that is tried again may be logged again.
    const sendsOf = () => new Set(lines().map(({ send_id }) => send_id));
    await until('it is said of all', () => sendsOf().size === KINDS.length);
    await write('drop constraint none_is_taken');
    expect(new Set(lines().map(({ trace_id }) => trace_id))).toEqual(new Set([traceId]));
    await until('they are written', async () => {
      const { rowCount } = await database.owner.query(
        `select from delivery.sends where recipient = $1 and status = 'accepted'`,
        [`${person}@people.test`],
      );
      return rowCount === KINDS.length;
    });
  }
});
