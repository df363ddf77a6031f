// How the refusals of some rooms are provoked.
import { DEFINITION_SHOWN } from '../../src/automations/shown.ts';
import { inProject } from '../../src/base/db.ts';
import type { Endpoint } from '../../src/http/openapi_read.ts';
import { TRAIT_KEYS_MAX } from '../../src/profiles/traits.ts';
import { SEGMENTS_MAX } from '../../src/segments/records.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { notificationOf, signMessage } from '../feedback/sns_service.ts';
import { signAs } from '../feedback/told.ts';
import type { Call } from '../support/api.ts';
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
});

const KEY = 'a-signing-key';
const ELSEWHERE = { TopicArn: 'arn:aws:sns:eu-west-1:123456789012:of-somebody-else' };

/** Those of posts that prove themselves by a signature. */
export const waysOfSignatures = ({ api, elsewhere }: Surroundings): Ways => {
  const post = (one: Endpoint, slug: string, call: Call) =>
    api.call(
      one.method,
      one.path.replace('{slug}', slug).replace('{project_id}', api.project.project_id),
      call,
    );
  return {
    invalid_signature: (one) => post(one, 'mailgun', { body: {} }),
    foreign_topic: (one) =>
      asking(api, elsewhere.sns.url, () =>
        post(one, 'amazon-ses', {
          body: signMessage(notificationOf({}, ELSEWHERE), elsewhere.sns.signer),
        }),
      ),
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
