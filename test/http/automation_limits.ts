// How the limits of automations are tried.
import type { Answer } from '../support/api.ts';

type Post = (path: string, body: unknown) => Promise<Answer>;

const ENDPOINT_URL = 'https://example.com/';
const told = (next: string | null) => ({
  kind: 'update_profile',
  traits: { stage: 'a' },
  next,
});
const chain = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `s${at}`,
      told(at + 1 < count ? `s${at + 1}` : null),
    ]),
  );
const definition = (given: object = {}) => ({
  trigger: { kind: 'event', event: 'made' },
  entry: 's0',
  steps: chain(1),
  ...given,
});
const filters = (count: number) =>
  Array.from({ length: count }, () => ({ property: 'a', test: { is: 'exists' } }));
const waits = (count: number) => ({
  kind: 'wait_for_event',
  event: 'made',
  where: filters(count),
  timeout: 'P1D',
  next: null,
  on_timeout: null,
});
const branch = (count: number) => ({
  kind: 'branch',
  branches: Array.from({ length: count }, () => ({
    when: { kind: 'subscribed' },
    next: null,
  })),
  otherwise: null,
});
const split = (count: number) => ({
  kind: 'split',
  ways: Array.from({ length: count }, (_, at) => ({ name: `w${at}`, weight: 1, next: null })),
});

/** Makes an automation of so much, one after another. */
export const automationsOf = (post: Post) => {
  const make = (given: object, name = 'a') =>
    post('/v1/automations', { name, definition: definition(given) });
  /** A segment for a schedule that says so much. */
  const scheduled = (given: (count: number) => object) => async (count: number) => {
    const where = { kind: 'tag', tag: 'complained' };
    const segment = await post('/v1/segments', { name: `s${count}`, definition: { where } });
    const start = '2040-01-01T09:00';
    const trigger = { kind: 'schedule', segment_id: segment.body.id, start, ...given(count) };
    return make({ trigger });
  };
  const one = (step: object) => make({ steps: { s0: step } });
  return {
    steps: (count: number) => make({ steps: chain(count) }),
    triggerFilters: (count: number) =>
      make({ trigger: { kind: 'event', event: 'made', where: filters(count) } }),
    waitFilters: (count: number) => one(waits(count)),
    branches: (count: number) => one(branch(count)),
    ways: (count: number) => one(split(count)),
    ruleChars: scheduled((count) => ({
      rule: `FREQ=DAILY;BYHOUR=00${',0'.repeat(count)}`.slice(0, count),
    })),
    ruleCount: scheduled((count) => ({ rule: `FREQ=DAILY;COUNT=${count}` })),
    perHour: scheduled((count) => ({ per_hour: count })),
    name: (count: number) => make({}, 'x'.repeat(count)),
    endpointName: (count: number) =>
      post('/v1/webhook-endpoints', { name: 'x'.repeat(count), url: ENDPOINT_URL }),
    endpointUrl: (count: number) =>
      post('/v1/webhook-endpoints', { name: 'a', url: ENDPOINT_URL.padEnd(count, 'x') }),
    body: (count: number) =>
      post(
        '/v1/automations',
        JSON.stringify({ name: 'a', definition: definition() }).padEnd(count),
      ),
  };
};
