// A session has two halves: over http a server at another port of the host receives the cookie, and nothing else.
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { OWNER, testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { answerOf, openStream } from '../support/event_stream.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import { inHalves } from '../support/session.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

const halvesOf = (session: string) => {
  const [cookie = '', proof = ''] = session.split('.');
  return { cookie, proof };
};
const listSessions = (cookie: string) =>
  admin.call('account.sessions', { type: 'query', cookie }).then(({ status }) => status);

test('attack: the cookie alone reads nothing, changes nothing and follows no stream', async () => {
  const session = await admin.openSession();
  const { cookie } = halvesOf(session);
  expect(await listSessions(session)).toBe(200);
  expect(await listSessions(cookie)).toBe(401);
  const current = await admin.call('session.current', { type: 'query', cookie });
  expect(current.body.result.data).toEqual({ person: null });
  for (const name of ['session.signOut', 'account.endOtherSessions'])
    expect([name, (await admin.call(name, { type: 'mutation', cookie })).status]).toEqual([
      name,
      401,
    ]);
  const input = { projectId: api.project.project_id };
  const stream = await openStream(api.url, 'events.latest', { input, cookie });
  expect(await answerOf(stream)).toMatchObject({ status: 401 });
  stream.close();
  expect(await listSessions(session)).toBe(200);
});

test('attack: the proof of one session is none of another, and neither is one that is made up', async () => {
  const [mine, yours] = [await admin.openSession(), await admin.openSession()].map(halvesOf);
  const proofs = [yours?.proof, 'A'.repeat(43), '-', mine?.proof.slice(0, -1), `${mine?.proof}A`];
  for (const proof of proofs)
    expect([proof, await listSessions(`${mine?.cookie}.${proof}`)]).toEqual([proof, 401]);
  expect(await listSessions(`${mine?.cookie}.${mine?.proof}`)).toBe(200);
});

test('attack: a session cookie that a server at another port planted is not adopted', async () => {
  const [owner, attacker] = [await admin.openSession(), (await makePerson(database)).cookie].map(
    halvesOf,
  );
  // The browser sends the attacker's cookie, and the page its own proof.
  expect(await listSessions(`${attacker?.cookie}.${owner?.proof}`)).toBe(401);
});

test('attack: a holder of the cookie alone cannot end the session by signing in as themselves', async () => {
  const session = await admin.openSession();
  const { email } = await makePerson(database);
  const input = { email, password: PASSWORD };
  const { cookie } = halvesOf(session);
  expect((await admin.call('session.signIn', { type: 'mutation', input, cookie })).status).toBe(
    200,
  );
  expect(await listSessions(session)).toBe(200);
  const again = await admin.call('session.signIn', {
    type: 'mutation',
    input: OWNER,
    cookie: session,
  });
  expect([again.status, await listSessions(session)]).toEqual([200, 401]);
});

test('no answer but that of the sign-in has the proof, and no cookie has it', async () => {
  const session = await admin.openSession();
  const { proof } = halvesOf(session);
  for (const name of ['session.current', 'account.sessions', 'projects.list']) {
    const input = name === 'projects.list' ? {} : undefined;
    const { headers, body } = await admin.call(name, { type: 'query', input, cookie: session });
    expect(JSON.stringify([body, [...headers]])).not.toContain(proof);
  }
  const signedIn = await admin.signIn();
  const { proof: fresh } = signedIn.body.result.data as { proof: string };
  expect(signedIn.headers.getSetCookie().join()).not.toContain(fresh);
});

test('a page of another port cannot read the answer of a sign-in, nor ask for one', async () => {
  const response = await fetch(`${api.url}/admin/trpc/session.signIn`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      origin: 'http://127.0.0.1:1',
      'sec-fetch-site': 'same-site',
    },
    body: JSON.stringify(OWNER),
  });
  expect(response.status).toBe(403);
  expect(await response.text()).not.toContain('proof');
  const preflight = await fetch(`${api.url}/admin/trpc/account.sessions`, {
    method: 'OPTIONS',
    headers: {
      origin: 'http://127.0.0.1:1',
      'access-control-request-headers': 'trunkline-session-proof',
    },
  });
  expect(preflight.headers.get('access-control-allow-headers') ?? '').not.toMatch(/proof/i);
});

test('a proof of any length or letters is answered 401, never 500', async () => {
  const { cookie = '' } = inHalves(await admin.openSession());
  for (const proof of ['', 'é'.repeat(40), 'x'.repeat(4_000), newId()]) {
    const headers = { cookie, 'trunkline-session-proof': Buffer.from(proof).toString('latin1') };
    const path = '/admin/trpc/account.sessions';
    expect((await api.call('GET', path, { headers })).status).toBe(401);
  }
});
