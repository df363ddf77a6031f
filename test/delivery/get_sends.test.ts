import { beforeAll, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { toCursor } from '../../src/base/page.ts';
import { SEND_STATUSES } from '../../src/delivery/queries.ts';
import { SHOWN_STATUSES } from '../../src/delivery/send_log.ts';
import { routes } from '../../src/http/routes.ts';
import { createProject } from '../../src/projects/projects.ts';
import { addressKey } from '../../src/suppression/suppression.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { sendsOf } from './one_send.ts';

const database = testDatabase();
const api = testApi(database);

type Send = { id: string; status: string; to: string; queued_at: string };
type Fact = 'delivered_at' | 'bounced_at' | 'complained_at' | 'opened_at' | 'clicked_at';

const get = (query = '', key = api.project.server_key) =>
  api.call('GET', `/v1/sends${query}`, { key });
const idsOf = (items: Send[]) => items.map(({ id }) => id);
const shapeOf = (path: string) => {
  const declared = routes.find((route) => route.path === path);
  if (!declared) throw new Error(`no route ${path}`);
  return declared.answer;
};

const HOUR_MS = 3_600_000;
const START = Date.now() - 500 * HOUR_MS;
const SOMEBODY = newId();
const AUTOMATION = newId();

/** Puts a send into the log as it stands after some facts. */
const log = async (send: {
  at: number;
  email: string;
  status: string;
  facts?: Fact[];
  profileId?: string;
  automationId?: string;
}): Promise<string> => {
  const { project_id } = api.project;
  const key = await inProject(database.deps, project_id, (scope) =>
    Promise.resolve(addressKey(scope, send.email)),
  );
  await database.owner.query(
    'insert into suppression.addresses (project_id, address_key, email) values ($1, $2, $3) on conflict do nothing',
    [project_id, key, send.email],
  );
  const queuedAt = new Date(START + send.at * HOUR_MS);
  const sendId = newId();
  const fact = (name: Fact) => (send.facts?.includes(name) ? queuedAt : null);
  await database.owner.query(
    `insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, profile_id, provider_id,
       template_id, template_version, address_key, recipient, subject, status, attempt_count, due_at, queued_at,
       expires_at, delivered_at, bounced_at, complained_at, opened_at, clicked_at)
     values ($1, $2, $3, $4, 'welcome', $5, $6, $6, 1, $7, $8, 'Hello', $9, 1, $10, $10, $10, $11, $12, $13, $14, $15)`,
    [
      project_id,
      sendId,
      send.automationId ?? AUTOMATION,
      newId(),
      send.profileId ?? newId(),
      newId(),
      key,
      send.email,
      send.status,
      queuedAt,
      fact('delivered_at'),
      fact('bounced_at'),
      fact('complained_at'),
      fact('opened_at'),
      fact('clicked_at'),
    ],
  );
  return sendId;
};

/** Newest last, as they were logged. */
const logged: string[] = [];
beforeAll(async () => {
  for (const [at, status] of SEND_STATUSES.entries())
    logged.push(await log({ at, email: 'ann@example.net', status, profileId: SOMEBODY }));
  const facts: Fact[][] = [
    ['delivered_at'],
    ['bounced_at'],
    ['complained_at'],
    ['delivered_at', 'bounced_at'],
    ['delivered_at', 'bounced_at', 'complained_at', 'opened_at', 'clicked_at'],
  ];
  for (const [index, those] of facts.entries())
    logged.push(
      await log({ at: 20 + index, email: 'bob@example.net', status: 'accepted', facts: those }),
    );
  for (let at = 30; at < 250; at += 1)
    logged.push(
      await log({ at, email: 'carol@example.net', status: 'queued', automationId: newId() }),
    );
});

describe('GET /v1/sends', () => {
  test('200: newest first, in the documented shape', async () => {
    const { status, body } = await get('?limit=200');
    expect(status).toBe(200);
    shapeOf('/v1/sends').parse(body);
    expect(idsOf(body.items)).toEqual(logged.toReversed().slice(0, 200));
  });

  test.each([1, 7, 50, 200])('200: pages of %i neither skip nor repeat', async (limit) => {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await get(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      seen.push(...idsOf(body.items));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(logged.toReversed());
  });

  test('200: by profile, automation and address, however it is written', async () => {
    const ofAnn = logged.slice(0, SEND_STATUSES.length).toReversed();
    const queries = [
      `profile_id=${SOMEBODY}`,
      'email=ann@example.net',
      'email=%20ANN@Example.NET%20',
    ];
    for (const query of queries) expect(idsOf((await get(`?${query}`)).body.items)).toEqual(ofAnn);
    const { body } = await get(`?automation_id=${AUTOMATION}`);
    expect(body.items).toHaveLength(SEND_STATUSES.length + 5);
    expect(
      (await get(`?automation_id=${AUTOMATION}&email=bob@example.net`)).body.items,
    ).toHaveLength(5);
  });

  test('200: by status, of which the strongest fact is the one shown', async () => {
    for (const status of SHOWN_STATUSES) {
      const { body } = await get(`?status=${status}&limit=200`);
      expect(body.items.length).toBeGreaterThan(0);
      expect(new Set(body.items.map((send: Send) => send.status))).toEqual(new Set([status]));
    }
    const shown = (await get('?email=bob@example.net')).body.items.map((send: Send) => send.status);
    expect(shown.toReversed()).toEqual([
      'delivered',
      'bounced',
      'complained',
      'bounced',
      'complained',
    ]);
  });

  test('200: after a moment, written in any offset', async () => {
    const { body } = await get('?limit=200');
    const [, , third] = body.items as Send[];
    const moment = new Date(third?.queued_at ?? '');
    const spellings = [
      moment.toISOString(),
      new Date(moment.getTime() + 23 * HOUR_MS).toISOString().replace('Z', '+23:00'),
      moment.toISOString().replace('Z', `${'0'.repeat(300)}Z`),
    ];
    for (const after of spellings) {
      const later = await get(`?after=${encodeURIComponent(after)}`);
      expect(idsOf(later.body.items)).toEqual(idsOf(body.items).slice(0, 2));
    }
    expect((await get('?after=0001-01-01T00:00:00Z')).body.items).toHaveLength(50);
    expect((await get('?after=9999-12-31T23:59:59Z')).body.items).toEqual([]);
  });

  test('200: nothing that fits is an empty list', async () => {
    for (const query of [`profile_id=${newId()}`, 'email=nobody', `email=${'x'.repeat(5_000)}`])
      expect((await get(`?${query}`)).body).toEqual({ items: [], next_cursor: null });
  });

  test('400 invalid_request: values that are none, each named', async () => {
    const wrong: [string, string][] = [
      ...['0', '201', 'abc', ''].map((value): [string, string] => ['limit', value]),
      ...['x', '', toCursor([]), toCursor(['x']), toCursor([newId(), newId()])].map(
        (value): [string, string] => ['cursor', value],
      ),
      ...['x', '', 'external_id:ann'].map((value): [string, string] => ['profile_id', value]),
      ['automation_id', 'x'],
      ['email', ''],
      ...['sent', 'QUEUED', ''].map((value): [string, string] => ['status', value]),
      ...[
        '',
        'now',
        '2026-11-20',
        '0000-01-01T00:00:00Z',
        '9999-12-31T23:59:59-01:00',
        '0001-01-01T00:00:00+01:00',
      ].map((value): [string, string] => ['after', value]),
      ['before', '2026-11-20T00:00:00Z'],
    ];
    for (const [name, value] of wrong) {
      const issues = expectRefusal(
        await get(`?${new URLSearchParams({ [name]: value }).toString()}`),
        'invalid_request',
      );
      expect(
        issues.map(({ path }) => path),
        `${name}=${value}`,
      ).toEqual([`/${name}`]);
    }
  });
});

describe('GET /v1/sends/{id}', () => {
  test('200: the same send as in the list, with the feedback on it', async () => {
    const { body: list } = await get('?email=bob@example.net');
    for (const send of list.items) {
      const { status, body } = await get(`/${send.id}`);
      expect(status).toBe(200);
      shapeOf('/v1/sends/:id').parse(body);
      expect(body).toEqual({ ...send, waits_for: null });
    }
    const kinds = list.items[0].feedback.map(({ kind }: { kind: string }) => kind);
    expect(kinds).toEqual(['delivered', 'bounced', 'complained', 'opened', 'clicked']);
  });

  test('404 not_found: of another project, or of nobody', async () => {
    const other = await createProject(database.deps, 'other');
    expectRefusal(await get(`/${logged[0]}`, other.server_key), 'not_found');
    for (const id of [newId(), 'x', `${logged[0]}x`])
      expectRefusal(await get(`/${id}`), 'not_found');
  });
});

test('200: once feedback has told what nobody knew, that is no warning any more', async () => {
  const { project_id: projectId, server_key: key } = api.project;
  const sends = sendsOf(database, projectId);
  const { sendId } = await sends.handingOff();
  await sends.end(sendId, 'unknown', { reason: 'outcome_unknown' });
  const read = async () => (await api.call('GET', `/v1/sends/${sendId}`, { key })).body;
  expect(await read()).toMatchObject({ status: 'unknown', status_reason: 'outcome_unknown' });
  await sends.tell(sendId, 'delivered', new Date());
  expect(await read()).toMatchObject({
    status: 'delivered',
    status_reason: null,
    status_fix: null,
  });
});
