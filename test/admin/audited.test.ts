// What people change has one entry in the audit log each, and what is refused or read has none.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { listEndpoints } from '../../src/http/openapi_read.ts';
import { makeDocument } from '../../src/http/openapi.ts';
import type { Endpoint } from '../../src/http/openapi_read.ts';
import { makeShownProject, shownProjects, shownRelay, toShown } from '../http/as_shown.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { cookieFor, makePerson } from '../support/people.ts';
import { readRows } from '../support/rows.ts';
import type { SignedInPerson } from '../support/people.ts';
import { changes, readings, unaudited } from './audited_inputs.ts';
import type { Given } from './audited_inputs.ts';
import { procedures } from './role_table.ts';

const database = testDatabase();
shownRelay(database);
const api = testApi(database);
const admin = testAdmin(database, api);
const endpoints = listEndpoints(makeDocument());
const findShownProject = shownProjects(database, api);

/** The endpoint that does the same for a server key, where a procedure is like one. */
const endpointOf = (like: string | undefined): Endpoint | undefined =>
  endpoints.find(({ method, path }) => `${method} ${path}` === like);

/** A project in which that endpoint's example finds what it names, and the body of the example. */
const makeProjectFor = async (like: string | undefined, isChanged: boolean): Promise<Given> => {
  const endpoint = endpointOf(like);
  if (like !== undefined && !endpoint) throw new Error(`there is no ${like}`);
  if (isChanged) await makeShownProject(database, api, endpoint);
  else await findShownProject(endpoint);
  const shown = endpoint && toShown(endpoint, api.project).call.body;
  return {
    database,
    projectId: api.project.project_id,
    body: typeof shown === 'string' ? (JSON.parse(shown) as object) : {},
    call: async (other, input) => (await call(other, input)).body.result.data,
  };
};

let boss: SignedInPerson;
beforeAll(async () => {
  await database.owner.query('delete from admin.people');
  boss = await makePerson(database, { isAdmin: true });
});

type Entry = {
  actor_kind: string;
  actor_id: string;
  action: string;
  targets: Record<string, string>;
  request_id: string;
  project_id?: string;
};
const entries = async (): Promise<Entry[]> => {
  const ofProjects = await database.owner.query('select * from admin.audit order by audit_id');
  const others = await database.owner.query(
    'select * from admin.installation_audit order by audit_id',
  );
  return [...ofProjects.rows, ...others.rows] as Entry[];
};
const since = async (known: readonly unknown[]): Promise<Entry[]> => {
  const before = new Set(known.map((entry) => JSON.stringify(entry)));
  return (await entries()).filter((entry) => !before.has(JSON.stringify(entry)));
};

const call = (name: string, input: object) =>
  admin.call(name, { type: 'mutation', input, cookie: boss.cookie });

const isOfProject = (name: string): boolean =>
  name === 'members.leave' ||
  procedures.some(
    (one) => one.name === name && !['person', 'nobody', 'admin'].includes(one.needs ?? ''),
  );

test('every change says how it is made here, or that it is none', () => {
  const mutations = procedures.filter(({ type }) => type === 'mutation').map(({ name }) => name);
  expect([...Object.keys(changes), ...Object.keys(readings), ...unaudited].toSorted()).toEqual(
    mutations.toSorted(),
  );
});

describe.each(Object.entries(changes))('%s', (name, change) => {
  beforeEach(async () => {
    boss.cookie = await cookieFor(database, boss.personId);
  });

  test('one entry says who did it, on what, by which request', async () => {
    const given = await makeProjectFor(change.like, change.in === 'project');
    const { projectId } = given;
    await cookieFor(database, boss.personId);
    const input = await change.input(given);
    const before = await entries();
    const place = isOfProject(name) ? { projectId } : {};
    const { status, body, headers } = await call(name, { ...place, ...input });
    expect([status, JSON.stringify(body)]).toEqual([200, expect.any(String)]);
    const [entry, ...more] = await since(before);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      actor_kind: 'person',
      action: name,
      request_id: headers.get('x-request-id'),
    });
    if (name !== 'invitations.accept') expect(entry?.actor_id).toBe(boss.personId);
    expect(entry?.project_id === undefined ? 'installation' : 'project').toBe(change.in);
    for (const id of Object.values(entry?.targets ?? {})) expect(id).toMatch(/^[\da-f-]{36}$/);
  });

  test('refused, it leaves no entry', async () => {
    const { projectId } = await makeProjectFor(change.like, false);
    const before = await entries();
    const viewer = await makePerson(database, { projectId, role: 'viewer' });
    const input = { projectId, accessRequestId: newId(), invitationId: newId(), token: 'x' };
    const wrong = { ...input, personId: newId(), sessionId: newId(), password: 'not the password' };
    for (const cookie of [viewer.cookie, boss.cookie, '']) {
      const oneself = cookie === viewer.cookie && name.startsWith('account.endOther');
      if (oneself || (cookie === boss.cookie && TAKES_NOTHING.includes(name))) continue;
      const { status } = await admin.call(name, { type: 'mutation', input: wrong, cookie });
      if (name === 'members.leave' && cookie === viewer.cookie) continue;
      expect(status).toBeGreaterThanOrEqual(400);
    }
    const left = (await since(before)).filter(({ actor_id }) => actor_id !== viewer.personId);
    expect(left).toEqual([]);
  });
});

describe.each(Object.entries(readings))('%s', (name, { like, input: inputOf }) => {
  test('changes nothing, and leaves no entry', async () => {
    const given = await makeProjectFor(like, false);
    const { projectId } = given;
    const viewer = await makePerson(database, { projectId, role: 'viewer' });
    const input = { projectId, ...(await inputOf(given)) };
    const before = await readRows(database, projectId);
    const asked = { type: 'mutation', input, cookie: viewer.cookie } as const;
    expect((await admin.call(name, asked)).status).toBe(200);
    expect(await readRows(database, projectId)).toEqual(before);
  });
});

test('what says that it only reads is listed here with an input', () => {
  const reading = procedures.filter(({ isReading }) => isReading).map(({ name }) => name);
  expect(Object.keys(readings).toSorted()).toEqual(reading.toSorted());
});

/** Changes that need nothing but to be asked for. */
const TAKES_NOTHING = ['account.endOtherSessions'];

test.each(procedures.filter(({ type }) => type === 'query'))(
  '$name reads, and leaves no entry',
  async ({ name, type }) => {
    const before = await entries();
    await admin.call(name, {
      type,
      input: { projectId: api.project.project_id },
      cookie: boss.cookie,
    });
    expect(await since(before)).toEqual([]);
  },
);
