import { beforeAll, beforeEach } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { sendQueued } from '../../src/delivery/delivery.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { newSend, OWNER, sendsOf } from '../delivery/one_send.ts';
import type { TestApi } from '../support/api.ts';
import { ACCESS_KEY_ID, cloudSink } from '../support/cloud_sink.ts';
import { NEVER } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { API_KEY, relaySink } from '../support/relay_sink.ts';
import { smtpSink } from '../support/smtp_sink.ts';

export const CLOUD_SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';

/** A counterpart of each kind, and the API connected to them. Call it before `testApi`. */
export const counterparts = (database: TestDatabase) => {
  const smtp = smtpSink();
  const relay = relaySink();
  const cloud = cloudSink();
  beforeAll(() => {
    const urls = { relayApiUrl: `${relay.url}/v3`, cloudApiUrl: cloud.url };
    database.deps = { ...database.deps, config: { ...database.deps.config, ...urls } };
  });
  beforeEach(() => {
    for (const sink of [smtp, relay, cloud]) sink.reset();
  });
  return { smtp, relay, cloud };
};
export type Counterparts = ReturnType<typeof counterparts>;

export const KINDS = ['smtp', 'relay_api', 'cloud_api'] as const;
type Kind = (typeof KINDS)[number];

let made = 0;

/** A record of a kind that works, from an address of its own. */
export const fieldsOf = ({ smtp }: Counterparts, kind: Kind, given: object = {}) => {
  made += 1;
  const common = {
    provider: kind,
    display_name: 'Onboarding',
    from_email: `hello${made}@acme.test`,
  };
  const fields = {
    smtp: smtp.settings,
    relay_api: { api_key: API_KEY },
    cloud_api: {
      region: 'eu-west-1',
      access_key_id: ACCESS_KEY_ID,
      secret_access_key: CLOUD_SECRET,
    },
  };
  return { ...common, ...fields[kind], ...given };
};

/** The calls of provider records, with a project's server key. */
export const providersOf = (api: TestApi) => {
  const ask = (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) =>
    api.call(method, path, {
      key: api.project.server_key,
      ...(body === undefined ? {} : { body }),
      headers,
    });
  const all = () => `/v1/projects/${api.project.project_id}/email-providers`;
  return {
    create: (body: unknown, headers?: Record<string, string>) => ask('POST', all(), body, headers),
    list: (query = '') => ask('GET', `${all()}${query}`),
    read: (id: string) => ask('GET', `/v1/email-providers/${id}`),
    change: (id: string, body: unknown) => ask('PATCH', `/v1/email-providers/${id}`, body),
    remove: (id: string) => ask('DELETE', `/v1/email-providers/${id}`),
    test: (id: string, to = 'ada@example.test', headers?: Record<string, string>) =>
      ask('POST', `/v1/email-providers/${id}/test`, { to }, headers),
  };
};

type Given = Parameters<typeof newSend>[0];

/** One send through a provider, as a worker hands it over; answers what the send log says of it. */
export const sendOneOf =
  (database: TestDatabase, api: TestApi) =>
  async (providerId: string, given: Given = {}) => {
    const { project_id: projectId, server_key: key } = api.project;
    const template = { name: 'Welcome', subject: 'Welcome', html: '<p>Welcome</p>', text: null };
    const templateId = await inProject(database.deps, projectId, (scope) =>
      saveTemplate(scope, template),
    );
    const planned = newSend({
      providerId,
      templateId,
      recipient: `${newId()}@example.test`,
      ...given,
    });
    await sendsOf(database, projectId).plan(planned);
    await sendQueued(database.deps, {
      projectId,
      providerId,
      owner: OWNER,
      signal: NEVER,
      takeBounce,
    });
    // A provider that takes its time is left to its lanes.
    await until(
      'the hand-off has ended',
      async () => (await sendsOf(database, projectId).read(planned.sendId)).lease_owner === null,
    );
    return (await api.call('GET', `/v1/sends/${planned.sendId}`, { key })).body;
  };
