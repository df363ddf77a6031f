// How each refusal is provoked at any endpoint: a new one has an entry here.
import { randomUUID } from 'node:crypto';
import { HEADER_BYTES_MAX } from '../../src/http/bounds.ts';
import type { Endpoint } from '../../src/http/openapi_read.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { Answer, Call, TestApi } from '../support/api.ts';
import { callAsShown, makeShownProject, SHOWN_EMAIL, toShown } from './as_shown.ts';
import { asking, keyOf, pathOf } from './provoke_base.ts';
import { waysOfLimits } from './provoke_limits.ts';
import type { Surroundings, Ways } from './provoke_base.ts';
import {
  aliasInSegmentsWords,
  isOfSegment,
  LONG_AGO_IN_SEGMENTS_WORDS,
} from './provoke_segment_door.ts';
import { waysOfSends } from './provoke_sends.ts';
import { waysOfTemplates } from './provoke_templates.ts';
import {
  waysOfAutomations,
  waysOfProviders,
  waysOfSegments,
  waysOfSignatures,
  waysOfTopics,
  waysOfTraits,
} from './provoke_rooms.ts';
import { ask, toWire } from './raw_http.ts';

const TOO_LARGE = `"${'a'.repeat(2 * 1024 * 1024)}"`;

const bodyOf = ({ operation }: Endpoint): Call => (operation.requestBody ? { body: {} } : {});
const nameless = ({ path }: Endpoint): string => path.replaceAll(/\{\w+\}/g, 'x');

const only = ([answer, ...more]: Answer[]): Answer => {
  if (!answer || more.length > 0) throw new Error(`${more.length + 1} answers`);
  return answer;
};

/** What becomes of a request with an Idempotency-Key that came before, and how it stands with that one. */
const waysOfRepetitions = ({ database, api }: Surroundings): Ways => {
  const headers = { 'idempotency-key': randomUUID() };
  const asked = new Map<Endpoint, TestApi['project']>();
  /** Asks once for each endpoint, in a project of its own. */
  const askBefore = async (one: Endpoint): Promise<void> => {
    const known = asked.get(one);
    if (known) api.project = known;
    else {
      await makeShownProject(database, api, one);
      await callAsShown(one, api, headers);
    }
    asked.set(one, api.project);
  };
  return {
    idempotency_key_reused: async (one) => {
      await askBefore(one);
      const { method, path, call } = toShown(one, api.project);
      return api.call(method, `${path}?`, { ...call, headers: { ...call.headers, ...headers } });
    },
    idempotency_key_in_use: async (one) => {
      await askBefore(one);
      await database.owner.query(
        `update http.idempotency_keys set answer = null, claimed_until = now() + interval '1 minute'
        where project_id = $1`,
        [api.project.project_id],
      );
      return callAsShown(one, api, headers);
    },
  };
};

/** What becomes of a request that is repeated when whom it told of is being erased. */
const afterErase = async ({ database, api }: Surroundings, one: Endpoint) => {
  await makeShownProject(database, api);
  const headers = { 'idempotency-key': randomUUID() };
  await callAsShown(one, api, headers);
  const key = api.project.server_key;
  await api.call('POST', '/v1/profiles/external_id:ann/erase', { key });
  return callAsShown(one, api, headers);
};

/** The refusals that follow from a request alone. */
const waysOfRequests = (around: Surroundings): Ways => {
  const { api } = around;
  const call = (one: Endpoint, given: Call, path = pathOf(one, api)) =>
    api.call(one.method, path, { key: keyOf(one, api.project), ...given });
  const link = (one: Endpoint, device: string, person: string) =>
    isOfSegment(one)
      ? aliasInSegmentsWords(api, device, person)
      : call(one, { body: { anonymous_id: device, external_id: person } });
  return {
    invalid_request: (one) => {
      if (one.operation.requestBody) return call(one, { body: '[]' });
      const path = /\{(?:id|email)\}/.test(one.path)
        ? one.path.replace(/\{(?:id|email)\}/, '%E0%A4%A')
        : `${pathOf(one, api)}?what=1`;
      return call(one, {}, path);
    },
    occurred_at_out_of_range: (one) => {
      if (isOfSegment(one)) return call(one, { body: LONG_AGO_IN_SEGMENTS_WORDS });
      const person = { external_id: 'ann', occurred_at: '1999-01-01T00:00:00Z' };
      const event = one.path.includes('event') ? { ...person, event: 'a' } : person;
      return call(one, { body: one.path.endsWith('batch') ? { events: [event] } : event });
    },
    identity_conflict: async (one) => {
      const device = 'device-of-ben';
      await link(one, device, 'ben');
      return link(one, device, 'bob');
    },
    being_erased: async (one) => {
      const key = api.project.server_key;
      await api.call('POST', '/v1/identify', { key, body: { external_id: 'gone' } });
      await api.call('POST', '/v1/profiles/external_id:gone/erase', { key, body: {} });
      return link(one, 'device-of-gone', 'gone');
    },
    invalid_idempotency_key: (one) =>
      call(one, { ...bodyOf(one), headers: { 'Idempotency-Key': 'a b' } }),
    invalid_json: (one) => call(one, { body: '{' }),
    invalid_token: (one) => call(one, { key: null, ...bodyOf(one) }),
    wrong_key_type: (one) => call(one, { key: api.project.publishable_key }),
    not_found: (one) =>
      one.path.includes('{') ? call(one, bodyOf(one), nameless(one)) : afterErase(around, one),
    body_too_large: (one) => call(one, { body: TOO_LARGE }),
    unsupported_media_type: (one) =>
      call(one, { body: '{}', headers: { 'content-encoding': 'br' } }),
  };
};

/** Those that follow from how the service, or another request, stands. */
const waysOfSurroundings = (around: Surroundings): Ways => {
  const { database, api, elsewhere } = around;
  const shown = (one: Endpoint) => callAsShown(one, api);
  let slow: Promise<unknown> = Promise.resolve();
  return {
    complaint_not_confirmed: async (one) => {
      await makeShownProject(database, api);
      const { project_id, hook_token } = api.project;
      const body = { event: 'complaint', email: SHOWN_EMAIL };
      await api.call('POST', `/v1/webhooks/smtp/${project_id}`, { key: hook_token, body });
      return shown(one);
    },
    rate_limited: async (one) => {
      // Nobody asked with its keys before, so the window begins now.
      const key = keyOf(one, await createProject(database.deps, 'asks too much'));
      const ask = () => api.call(one.method, pathOf(one, api), { key, ...bodyOf(one) });
      return asking(api, elsewhere.tight, async () => {
        await ask();
        return ask();
      });
    },
    request_timeout: async (one) => {
      const head = toWire({
        method: one.method,
        path: pathOf(one, api),
        headers: {
          Authorization: `Bearer ${keyOf(one, api.project)}`,
          'Content-Type': 'application/json',
          'Content-Length': '10',
        },
      });
      // A GET is answered when its headers are there: it is these that do not come to an end.
      const begun = one.operation.requestBody ? `${head}{` : head.slice(0, -2);
      return only(await ask(elsewhere.impatient, begun));
    },
    headers_too_large: async (one) => {
      const headers = { 'X-Large': 'a'.repeat(HEADER_BYTES_MAX) };
      return only(
        await ask(api.url, toWire({ method: one.method, path: pathOf(one, api), headers })),
      );
    },
    // Whatever the tests before have left of the project: it fails before anything is found.
    internal_error: shown,
    unavailable: (one) => asking(api, elsewhere.alone, () => shown(one)),
    database_timeout: (one) => {
      // One at a time: many that wait for a session are refused for that.
      const next = slow.then(() => asking(api, elsewhere.slow, () => shown(one)));
      slow = next;
      return next;
    },
    overloaded: shown,
  };
};

/** Every way to be refused that is known here. */
export const waysToProvoke = (around: Surroundings): Ways => ({
  ...waysOfSends(around),
  ...waysOfRequests(around),
  ...waysOfRepetitions(around),
  ...waysOfAutomations(around),
  ...waysOfProviders(around),
  ...waysOfSegments(around),
  ...waysOfTraits(around),
  ...waysOfTemplates(around),
  ...waysOfSurroundings(around),
  ...waysOfSignatures(around),
  ...waysOfTopics(around),
  ...waysOfLimits(around),
});
