// How the refusals of some rooms are provoked.
import { SUBSCRIBED_ENDPOINTS_MAX } from '../../src/automations/subscriptions/delivery_limits.ts';
import { DEFINITION_SHOWN } from '../../src/automations/shown.ts';
import { inProject } from '../../src/base/db.ts';
import type { Endpoint } from '../../src/http/openapi_read.ts';
import { TRAIT_KEYS_MAX } from '../../src/profiles/traits.ts';
import { SEGMENTS_MAX } from '../../src/segments/records.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { confirmationOf, notificationOf, signMessage } from '../feedback/sns_service.ts';
import type { SnsMessage } from '../../src/feedback/sns.ts';
import { CONFIRMED_TOPICS_MAX } from '../../src/feedback/topics/topic_limits.ts';
import { signAs } from '../feedback/told.ts';
import type { Answer, Call } from '../support/api.ts';
import { API_KEY } from '../support/relay_sink.ts';
import { callAsShown, makeShownProject, SHOWN_ID } from './as_shown.ts';
import { keys } from './of_size.ts';
import { asking, keyOf, pathOf } from './provoke_base.ts';
import type { Surroundings, Ways } from './provoke_base.ts';
import { identifyInSegmentsWords, isOfSegment } from './provoke_segment_door.ts';

/** That of traits: a server tells somebody more than one may hold. */
export const waysOfTraits = ({ api }: Surroundings): Ways => ({
  too_many_traits: async (one) => {
    const tell = (traits: object) =>
      isOfSegment(one)
        ? identifyInSegmentsWords(api, 'full', traits)
        : api.call(one.method, pathOf(one, api), {
            key: api.project.server_key,
            body: { external_id: 'full', traits },
          });
    await tell(keys(TRAIT_KEYS_MAX));
    return tell({ one_more: 1 });
  },
});

/** Those of e-mail providers: what they do not take, and what is not given to them. */
export const waysOfProviders = (around: Surroundings): Ways => {
  const { database, api, relay } = around;
  const call = async (one: Endpoint, body: object) => {
    await makeShownProject(database, api);
    return api.call(one.method, pathOf(one, api), { key: keyOf(one, api.project), body });
  };
  const made = { provider: 'relay_api', display_name: 'a', from_email: 'a@example.com' };
  return {
    from_email_taken: async (one) => {
      await makeShownProject(database, api);
      const { project_id, server_key: key } = api.project;
      const body = { ...made, api_key: API_KEY };
      await api.call('POST', `/v1/projects/${project_id}/email-providers`, { key, body });
      const again = one.method === 'PATCH' ? { from_email: made.from_email } : body;
      return api.call(one.method, pathOf(one, api), { key, body: again });
    },
    provider_preflight_failed: (one) => {
      const change = { api_key: 'api-wrong' };
      return call(one, one.method === 'PATCH' ? change : { ...made, ...change });
    },
    provider_test_failed: (one) => {
      relay.play('/email/mime', { status: 429, json: {} }, 1);
      return call(one, { to: 'ann@example.com' });
    },
    recipient_suppressed: async (one) => {
      await makeShownProject(database, api);
      const { project_id } = api.project;
      const told = { email: 'ann@example.com', reason: 'manual' as const, source: 'test' };
      await inProject(database.deps, project_id, (scope) => suppress(scope, told));
      return callAsShown(one, api);
    },
  };
};

/** Those of segments: what somebody else changed, needs, or leaves no room for. */
export const waysOfSegments = ({ database, api }: Surroundings): Ways => {
  const path = '/v1/segments';
  const of = (segment_id: string) => ({ where: { kind: 'segment', segment_id } });
  return {
    segment_changed: async (one) => {
      await makeShownProject(database, api);
      const { server_key: key } = api.project;
      return api.call(one.method, pathOf(one, api), { key, body: { version: 2, name: 'late' } });
    },
    segment_in_use: async (one) => {
      await makeShownProject(database, api);
      const { server_key: key } = api.project;
      await api.call('POST', path, { key, body: { name: 'a', definition: of(SHOWN_ID) } });
      return api.call(one.method, pathOf(one, api), { key });
    },
    segment_not_static: async (one) => {
      await makeShownProject(database, api);
      return callAsShown(one, api);
    },
    too_many_segments: async (one) => {
      await database.owner.query(
        `insert into segments.segments
           (project_id, segment_id, name, kind, status, version, created_at, updated_at)
         select $1, gen_random_uuid(), 'a', 'static', 'ready', 1, now(), now()
         from generate_series(1, $2)`,
        [api.project.project_id, SEGMENTS_MAX],
      );
      return callAsShown(one, api);
    },
  };
};

/** Those of automations that do not stand as the request takes for granted. */
export const waysOfAutomations = ({ database, api }: Surroundings): Ways => ({
  automation_changed: async (one) => {
    await makeShownProject(database, api, one);
    await callAsShown(one, api);
    const body = { after_version: 1, definition: DEFINITION_SHOWN };
    return api.call(one.method, pathOf(one, api), { key: keyOf(one, api.project), body });
  },
  automation_state: async (one) => {
    await makeShownProject(database, api, one);
    await database.owner.query(
      `update automations.automations set status = 'archived', active_version = null where project_id = $1`,
      [api.project.project_id],
    );
    return callAsShown(one, api);
  },
  too_many_subscriptions: async (one) => {
    await makeShownProject(database, api, one);
    await database.owner.query(
      `insert into automations.endpoints
         (project_id, endpoint_id, name, url, status, event_types, created_at, updated_at)
       select $1, gen_random_uuid(), 'a', 'https://example.com', 'active', '{email.sent}', now(), now()
       from generate_series(1, $2)`,
      [api.project.project_id, SUBSCRIBED_ENDPOINTS_MAX],
    );
    const body = { name: 'CRM', url: 'https://example.com/hooks', event_types: ['email.sent'] };
    return api.call(one.method, pathOf(one, api), { key: keyOf(one, api.project), body });
  },
  endpoint_disabled: async (one) => {
    await makeShownProject(database, api, one);
    await database.owner.query(
      `update automations.endpoints set status = 'disabled' where project_id = $1`,
      [api.project.project_id],
    );
    return callAsShown(one, api);
  },
  public_url_required: async (one) => {
    await makeShownProject(database, api, one);
    const of = [api.project.project_id];
    await database.owner.query(
      `update providers.providers
      set is_outside = true, provider = 'smtp', smtp_host = '192.31.196.1', smtp_port = 587, smtp_secure = 'starttls',
        region = null, access_key_id = null
      where project_id = $1`,
      of,
    );
    // What is active already is not activated again.
    if (one.path.endsWith('/activate'))
      await database.owner.query(
        `update automations.automations set status = 'draft', active_version = null where project_id = $1`,
        of,
      );
    return callAsShown(one, api);
  },
});

const KEY = 'a-signing-key';
const ELSEWHERE = 'arn:aws:sns:eu-west-1:123456789012:of-another-account';
const ASKING = 'arn:aws:sns:eu-west-1:123456789012:asking';

const isWebhook = ({ path }: Endpoint): boolean => path.includes('{slug}');

/** Those of Amazon SNS topics: a post of one that asks to be confirmed, or the approval of one. */
export const waysOfTopics = ({ database, api, elsewhere }: Surroundings): Ways => {
  const post = (one: Endpoint, message: Omit<SnsMessage, 'Signature'>, isTokened: boolean) => {
    const { project_id, hook_token } = api.project;
    const path = one.path.replace('{slug}', 'amazon-ses').replace('{project_id}', project_id);
    const body = signMessage(message, elsewhere.sns.signer);
    const token = isTokened ? `?token=${hook_token}` : '';
    return asking(api, elsewhere.sns.url, () => api.call(one.method, path + token, { body }));
  };
  const askOrApprove = async (one: Endpoint): Promise<Answer> => {
    await makeShownProject(database, api, one);
    if (isWebhook(one)) return post(one, confirmationOf({ TopicArn: ASKING }), true);
    return asking(api, elsewhere.sns.url, () => callAsShown(one, api));
  };
  const fill = (projectId: string) =>
    database.owner.query(
      `insert into feedback.topics (project_id, topic_arn, topic_id, status, first_asked_at, last_asked_at,
         subscription_arn, confirmed_by, confirmed_at)
       select $1, 'arn:aws:sns:eu-west-1:123456789012:topic-' || n, gen_random_uuid(), 'confirmed', now(), now(), 'a',
         'token', now()
       from generate_series(1, $2) as n`,
      [projectId, CONFIRMED_TOPICS_MAX],
    );
  return {
    foreign_topic: (one) => post(one, notificationOf({}, { TopicArn: ELSEWHERE }), false),
    topic_needs_approval: (one) => post(one, confirmationOf({ TopicArn: ASKING }), false),
    topic_not_confirmed: async (one) => {
      elsewhere.sns.mood('well');
      await post(one, notificationOf({}), false);
      elsewhere.sns.mood('refusing');
      return askOrApprove(one).finally(() => elsewhere.sns.mood('well'));
    },
    too_many_topics: async (one) => {
      await makeShownProject(database, api, one);
      await fill(api.project.project_id);
      if (!isWebhook(one)) return callAsShown(one, api);
      return post(one, confirmationOf({ TopicArn: ASKING }), true);
    },
  };
};

/** Those of posts that prove themselves by a signature. */
export const waysOfSignatures = ({ api }: Surroundings): Ways => {
  const post = (one: Endpoint, slug: string, call: Call) =>
    api.call(
      one.method,
      one.path.replace('{slug}', slug).replace('{project_id}', api.project.project_id),
      call,
    );
  return {
    invalid_signature: (one) => post(one, 'mailgun', { body: {} }),
    webhook_replayed: async (one) => {
      const { project_id, server_key: key } = api.project;
      const path = `/v1/projects/${project_id}/webhooks/mailgun/signing-key`;
      await api.call('POST', path, { key, body: { signing_key: KEY } });
      const signature = signAs(KEY);
      await post(one, 'mailgun', { body: { signature } });
      return post(one, 'mailgun', { body: { signature, 'event-data': {} } });
    },
  };
};
