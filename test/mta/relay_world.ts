import { afterAll, beforeAll, beforeEach } from 'vitest';
import { readMessageId } from '../../src/delivery/message.ts';
import { saveProvider } from '../../src/providers/providers.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { askService } from '../support/ask_service.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';
import type { Limits, Relay } from './relay.ts';
import type { RelayKind } from './relay_kinds.ts';

/** As many people sign up with one statement. */
const SIGN_UP_BATCH = 200;

type Status = { status: string; parked: { reason: string } | null; pace: Pace };
type Pace = { circuit: string; paused: { reason: string } | null };

/** Facts of one scenario: what was planned, and what the relay's own log says. */
export type Figures = {
  planned: number;
  /** Different sends in the log of the relay. */
  taken: number;
  /** Messages in that log beyond the first of their send. */
  twice: number;
  /** Sends that ended, and that the relay has neither taken nor refused. */
  lost: number;
  rejected: number;
  /** Sends with an attempt whose outcome was not known. */
  unknown: number;
  /** Attempts that the relay, or the way to it, deferred: by reason. */
  deferred: Record<string, number>;
  /** The longest time between two acceptances. */
  heldSeconds: number;
};

const OPEN = ['planned', 'queued', 'handing_off', 'unknown'];
const QUERIES = {
  states: 'select send_id, status from delivery.sends',
  unknown: `select count(distinct send_id)::int as count from delivery.attempts where outcome = 'unknown'`,
  deferred: `select reason, count(*)::int as count from delivery.attempts
    where outcome in ('deferred', 'not_started') group by reason order by reason`,
  held: `select coalesce(extract(epoch from max(gap)), 0)::float as seconds from (
    select accepted_at - lag(accepted_at) over (order by accepted_at) as gap from delivery.sends) as gaps`,
  window: `select count(*)::int as count from delivery.sends
    where accepted_at >= to_timestamp($1) and accepted_at < to_timestamp($2)`,
};

/** The whole service as a process, sending through a real relay. */
export type RelayWorld = {
  world: World;
  relay: () => Relay;
  /** Calls the service's API with the server key. */
  call: (method: string, path: string, body?: object) => Promise<{ status: number; body: unknown }>;
  /** Lets so many new people sign up, called by this prefix and a number. */
  signUp: (count: number, prefix?: string) => Promise<void>;
  /** What the API says of the provider. */
  provider: () => Promise<Status>;
  /** Changes the provider record through the API. */
  save: (change: object) => Promise<number>;
  /** Sends a test message through the provider. */
  testProvider: () => Promise<number>;
  counts: () => Promise<Record<string, number>>;
  /** Whether each person has a send that may go. */
  isPlanned: () => Promise<boolean>;
  /** Whether each person has a send, and none waits. */
  isDone: () => Promise<boolean>;
  /** Acceptances a second between two moments, in milliseconds since 1970. */
  throughput: (from: number, to: number) => Promise<number>;
  figures: () => Promise<Figures>;
};

export const relayWorld = (kind: RelayKind, limits: Limits = {}): RelayWorld => {
  const world = testWorld();
  let relay: Relay;
  let service: Service;
  let providerId = '';
  let signedUp = 0;
  const missing = kind.findMissing();

  beforeAll(async () => {
    if (missing !== null) return;
    relay = await kind.start(limits);
    const sender = { from_email: 'hello@shop.test', from_name: 'Shop', reply_to: null };
    const record = { display_name: kind.name, ...sender, ...relay.settings };
    providerId = await saveProvider(world.deps, world.project.project_id, record);
    service = await world.start('all', { NODE_EXTRA_CA_CERTS: relay.caFile });
  });
  afterAll(async () => {
    await service?.stop();
    await relay?.remove();
  });
  beforeEach(({ skip }) => skip(missing !== null, missing ?? ''));

  const rowsOf = async <T extends object>(query: string, values: unknown[] = []): Promise<T[]> =>
    (await world.owner.query<T>(query, values)).rows;
  const call: RelayWorld['call'] = (method, path, body) =>
    askService(service, method, path, { key: world.project.server_key, body });
  const path = () => `/v1/email-providers/${providerId}`;
  const counts = async (): Promise<Record<string, number>> => {
    const found: Record<string, number> = {};
    for (const { status } of await rowsOf<{ status: string }>(QUERIES.states))
      found[status] = (found[status] ?? 0) + 1;
    return found;
  };

  return {
    world,
    relay: () => relay,
    call,
    signUp: async (count, prefix = 'person-') => {
      const people = Array.from({ length: count }, (_, at) => `${prefix}${signedUp + at}`);
      signedUp += count;
      for (let from = 0; from < count; from += SIGN_UP_BATCH)
        await world.signUp(...people.slice(from, from + SIGN_UP_BATCH));
    },
    provider: async () => (await call('GET', path())).body as Status,
    save: async (change) => (await call('PATCH', path(), change)).status,
    testProvider: async () =>
      (await call('POST', `${path()}/test`, { to: 'owner@shop.test' })).status,
    counts,
    isPlanned: async () => {
      const states = await rowsOf<{ status: string }>(QUERIES.states);
      return states.length === signedUp && !states.some(({ status }) => status === 'planned');
    },
    isDone: async () => {
      const states = await rowsOf<{ status: string }>(QUERIES.states);
      return states.length === signedUp && !states.some(({ status }) => OPEN.includes(status));
    },
    throughput: async (from, to) => {
      const [found] = await rowsOf<{ count: number }>(QUERIES.window, [from / 1_000, to / 1_000]);
      return ((found?.count ?? 0) * 1_000) / (to - from);
    },
    figures: async () => {
      const states = await rowsOf<{ send_id: string; status: string }>(QUERIES.states);
      const own = new Set(states.map(({ send_id }) => send_id));
      const { accepted = 0, rejected = 0 } = await counts();
      const read = async () =>
        (await relay.taken())
          .map((id) => readMessageId(id)?.sendId ?? '')
          .filter((id) => own.has(id));
      // Its log may be a moment behind its answers.
      const taken = await until('the relay has logged what it took', async () => {
        const ids = await read();
        return new Set(ids).size >= accepted && ids;
      }).catch(read);
      const distinct = new Set(taken);
      const open = states.filter(({ status }) => OPEN.includes(status));
      const [unknown] = await rowsOf<{ count: number }>(QUERIES.unknown);
      const deferred = await rowsOf<{ reason: string; count: number }>(QUERIES.deferred);
      const [held] = await rowsOf<{ seconds: number }>(QUERIES.held);
      return {
        planned: signedUp,
        taken: distinct.size,
        twice: taken.length - distinct.size,
        lost: signedUp - distinct.size - rejected - open.length,
        rejected,
        unknown: unknown?.count ?? 0,
        deferred: Object.fromEntries(deferred.map(({ reason, count }) => [reason, count])),
        heldSeconds: held?.seconds ?? 0,
      };
    },
  };
};
