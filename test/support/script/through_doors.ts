import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { Link, Profile, TimelineEntry } from '../../../src/profiles/schema.ts';
import { createProject } from '../../../src/projects/projects.ts';
import type { NewProject } from '../../../src/projects/projects.ts';
import type { Service } from '../../../src/runtime/start_service.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../until.ts';
import { timeOf } from './ops.ts';
import type { KeyKind, Op } from './ops.ts';
import type { Place, Stage, View } from './stage.ts';

const LANES = 8;
const PAGE_ITEMS = 200;

type Request = { method: 'GET' | 'POST'; path: string; key: KeyKind; body?: object; id?: string };
type Answer = { status: number; body: unknown };
type Ask = (request: Request) => Promise<Answer>;

const send = async (url: string, token: string, request: Request): Promise<Answer> => {
  const { method, path, body, id } = request;
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(id === undefined ? {} : { 'idempotency-key': id }),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, body: await response.json() };
};

const isStillRunning = ({ body }: Answer): boolean =>
  (body as { error?: string }).error === 'idempotency_key_in_use';

/** Asks any of the processes, each time another, and again where the answer is to do so. */
const askOf =
  (doors: readonly Service[], project: NewProject): Ask =>
  (request) =>
    until(`${request.method} ${request.path}`, async () => {
      const { port } = doors[randomInt(doors.length)] as Service;
      const token = request.key === 'server' ? project.server_key : project.publishable_key;
      const answer = await send(`http://127.0.0.1:${port}`, token, request);
      return isStillRunning(answer) ? null : answer;
    });

const expectStatus = ({ status, body }: Answer, ...wanted: number[]): unknown => {
  if (!wanted.includes(status)) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body;
};

const get = async <S extends z.ZodType>(ask: Ask, path: string, of: S): Promise<z.output<S>[]> => {
  const body = expectStatus(await ask({ method: 'GET', path, key: 'server' }), 200);
  const page = z.object({ items: z.array(of), next_cursor: z.null() }).parse(body);
  return page.items;
};

const listLinks = (ask: Ask, query = ''): Promise<Link[]> =>
  get(ask, `/v1/identity-links?limit=${PAGE_ITEMS}${query}`, Link);

/** What makes an op sent twice one: a member of its body, or a header. */
const repeatable = (op: { id: string; repeats: 'message_id' | 'idempotency_key' }) =>
  op.repeats === 'message_id' ? { body: { message_id: op.id } } : { id: op.id, body: {} };

const undo = async (ask: Ask, device: string): Promise<void> => {
  const links = await listLinks(ask, '&status=active');
  for (const { id } of links.filter(({ anonymous_id }) => anonymous_id === device)) {
    const path = `/v1/identity-links/${id}/undo`;
    expectStatus(await ask({ method: 'POST', path, key: 'server' }), 200);
  }
};

const perform = async (ask: Ask, op: Op): Promise<void> => {
  switch (op.kind) {
    case 'track': {
      const { body, ...once } = repeatable(op);
      const event = { event: 'page_viewed', ...op.who, properties: { op: op.id } };
      const told = { ...event, occurred_at: timeOf(op.minute), ...body };
      const { key } = op;
      expectStatus(
        await ask({ method: 'POST', path: '/v1/events', key, body: told, ...once }),
        202,
      );
      return;
    }
    case 'identify': {
      const { body, ...once } = repeatable(op);
      const of = op.device === null ? {} : { anonymous_id: op.device };
      const who = { external_id: op.person, ...of };
      const told = { ...who, traits: op.traits, occurred_at: timeOf(op.minute), ...body };
      const { key } = op;
      expectStatus(
        await ask({ method: 'POST', path: '/v1/identify', key, body: told, ...once }),
        202,
      );
      return;
    }
    case 'alias': {
      const body = { anonymous_id: op.device, external_id: op.person };
      const path = '/v1/identify/alias';
      expectStatus(await ask({ method: 'POST', path, key: 'server', body }), 200, 409);
      return;
    }
    case 'undo':
      await undo(ask, op.device);
  }
};

const place = (database: TestDatabase, doors: readonly Service[], project: NewProject): Place => {
  const ask = askOf(doors, project);
  const view: View = {
    findProfile: async (by, value) =>
      (await get(ask, `/v1/profiles?${by}_id=${encodeURIComponent(value)}`, Profile))[0],
    listTimeline: (profileId) =>
      get(ask, `/v1/profiles/${profileId}/events?limit=${PAGE_ITEMS}`, TimelineEntry),
    listLinks: () => listLinks(ask),
  };
  return {
    perform: (op) => perform(ask, op),
    settle: async () => {
      await until('everything accepted is processed', async () => {
        const { rowCount } = await database.owner.query(
          'select from ingest.pending where project_id = $1',
          [project.project_id],
        );
        return rowCount === 0;
      });
    },
    look: (read) => read(view),
  };
};

/** Through the public API of several processes, while their workers take what they find. */
export const throughDoors = (database: TestDatabase, doors: readonly Service[]): Stage => ({
  lanes: LANES,
  open: async () => place(database, doors, await createProject(database.deps, 'script')),
});
