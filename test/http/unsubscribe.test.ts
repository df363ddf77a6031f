// The page behind a mail's unsubscribe link, and the one click of RFC 8058.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { UNSUBSCRIBE_BYTES_MAX } from '../../src/http/unsubscribe.ts';
import { createProject } from '../../src/projects/projects.ts';
import {
  addressKey,
  eraseAddresses,
  findByEmail,
  makeUnsubscribeToken,
  suppress,
} from '../../src/suppression/suppression.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { signedToken } from '../suppression/signed_token.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';

const database = testDatabase();
const api = testApi(database);

const FORM = 'application/x-www-form-urlencoded';
const ONE_CLICK = 'List-Unsubscribe=One-Click';
const BACK = 'action=resubscribe';

type Answer = { status: number; headers: Headers; html: string };

const ask = async (token: string, init: RequestInit = {}): Promise<Answer> => {
  const response = await fetch(`${api.url}/u/${token}`, { redirect: 'manual', ...init });
  return { status: response.status, headers: response.headers, html: await response.text() };
};
const post = (token: string, body: string | FormData = ONE_CLICK, contentType = FORM) =>
  ask(token, {
    method: 'POST',
    body,
    ...(typeof body === 'string' ? { headers: { 'content-type': contentType } } : {}),
  });

const within = <T>(work: Parameters<typeof inProject<T>>[2]): Promise<T> =>
  inProject(database.deps, api.project.project_id, work);

/** Somebody with a profile, to whom mail was planned, and the link in it. */
const reader = async () => {
  const email = `${newId()}@example.net`;
  const body = { external_id: email, traits: { email } };
  await api.call('POST', '/v1/identify', { key: api.project.server_key, body });
  const key = await within((scope) => Promise.resolve(addressKey(scope, email)));
  const send = newSend({ recipient: email, addressKey: key });
  const sends = sendsOf(database, api.project.project_id);
  await sends.plan(send);
  const link = { projectId: api.project.project_id, addressKey: key, sendId: send.sendId };
  const state = () => within((scope) => findByEmail(scope, email));
  const tags = async () => {
    const path = `/v1/profiles?email=${email}`;
    const { body: page } = await api.call('GET', path, { key: api.project.server_key });
    return page.items[0].tags;
  };
  const token = makeUnsubscribeToken(database.deps.keys, link);
  return { email, link, token, send, sends, state, tags };
};

test('200: GET shows whose mail it is and what would happen, and changes nothing however often', async () => {
  const { token, state } = await reader();
  for (const method of ['GET', 'GET', 'HEAD']) {
    const { status, html } = await ask(token, { method });
    expect(status).toBe(200);
    if (method === 'GET') expect(html).toContain('<h1>Unsubscribe from test?</h1>');
  }
  expect(await state()).toMatchObject({ unsubscribed_at: null });
});

test('200: the link of an email from before tokens were encrypted still unsubscribes, and comes back', async () => {
  const { link, state } = await reader();
  const token = signedToken(database.deps.keys, link);
  expect((await ask(token)).html).toContain('test');
  expect((await post(token)).html).toContain('You are unsubscribed');
  expect((await state())?.unsubscribed_at).toBeInstanceOf(Date);
  await post(token, BACK);
  expect((await state())?.unsubscribed_at ?? null).toBeNull();
  // In one spelling only: unused bits of the last letter are no second link.
  const same = `${token.slice(0, -1)}${String.fromCharCode(token.charCodeAt(token.length - 1) + 1)}`;
  expect(Buffer.from(same, 'base64url')).toEqual(Buffer.from(token, 'base64url'));
  expect((await post(same)).html).toContain('not complete');
});

test('200: one click unsubscribes at once, and no queued marketing mail is handed over after it', async () => {
  const { token, state, tags, send, sends } = await reader();
  await sends.claim(send.providerId);
  const { status, headers, html } = await post(token);
  expect([status, headers.get('location'), headers.get('set-cookie')]).toEqual([200, null, null]);
  expect(html).toContain('You are unsubscribed');
  expect((await state())?.unsubscribed_at).not.toBeNull();
  expect(await tags()).toEqual(['unsubscribed']);
  expect(await sends.begin(send)).toBe('suppressed');
  expect(await sends.read(send.sendId)).toMatchObject({
    status: 'suppressed',
    status_reason: 'unsubscribed',
  });
});

test('200: since when stays when the click comes again; who came back and leaves again since then', async () => {
  const { token, state } = await reader();
  await post(token);
  const first = (await state())?.unsubscribed_at;
  for (let times = 0; times < 3; times += 1) await post(token);
  expect(first).toEqual(expect.any(Date));
  expect((await state())?.unsubscribed_at).toEqual(first);
  await post(token, BACK);
  await post(token);
  expect((await state())?.unsubscribed_at?.getTime()).toBeGreaterThan(first?.getTime() ?? 0);
});

test.each<[string, string | FormData, string?]>([
  ['a form of several parts', Object.assign(new FormData(), {})],
  ['the page’s own button', `${ONE_CLICK}&x=1`],
  ['no body', '', 'text/plain'],
  ['JSON', '{"List-Unsubscribe":"One-Click"}', 'application/json'],
  ['bytes that are no text', '\u0000\u00FF%E0%A4%A'],
])('200: %s unsubscribes as well', async (_what, body, contentType) => {
  const { token, state } = await reader();
  if (body instanceof FormData) body.set('List-Unsubscribe', 'One-Click');
  expect((await post(token, body, contentType)).status).toBe(200);
  expect((await state())?.unsubscribed_at).not.toBeNull();
});

test('200: a mistake is taken back by the page’s other button, and by nothing else', async () => {
  const { token, state, tags } = await reader();
  const { html } = await post(token);
  expect(html).toMatch(/<input type="hidden" name="action" value="resubscribe">/);
  await post(token, BACK, 'text/plain');
  expect((await state())?.unsubscribed_at).not.toBeNull();
  const back = await post(token, BACK);
  expect(back.html).toContain('You are subscribed again');
  expect(await state()).toMatchObject({ unsubscribed_at: null });
  expect(await tags()).toEqual([]);
});

test('200: coming back lifts no complaint', async () => {
  const { email, token, state } = await reader();
  const complaint = { email, reason: 'complaint', source: 'webhook/smtp' } as const;
  await within((scope) => suppress(scope, complaint));
  await post(token);
  await post(token, BACK);
  expect(await state()).toMatchObject({ unsubscribed_at: null, reason: 'complaint' });
});

test('200: erased people leave too, by the key alone', async () => {
  const { link, token, state } = await reader();
  await within((scope) => eraseAddresses(scope, [link.addressKey]));
  expect((await ask(token)).status).toBe(200);
  expect((await post(token)).html).toContain('You are unsubscribed');
  expect(await state()).toMatchObject({ email: null, unsubscribed_at: expect.any(Date) });
});

test('200: an address that nobody wrote down leaves, should it ever come', async () => {
  const email = 'never-mailed@example.net';
  const key = await within((scope) => Promise.resolve(addressKey(scope, email)));
  const link = { projectId: api.project.project_id, addressKey: key, sendId: newId() };
  await post(makeUnsubscribeToken(database.deps.keys, link));
  expect(await within((scope) => findByEmail(scope, email))).toMatchObject({
    unsubscribed_at: expect.any(Date),
  });
});

test('a link of one project unsubscribes from no other', async () => {
  const { email, token } = await reader();
  const { project_id } = await createProject(database.deps, 'other');
  await post(token);
  const theirs = await inProject(database.deps, project_id, (scope) => findByEmail(scope, email));
  expect(theirs).toBeNull();
});

describe('a token that is not ours', () => {
  const strangers = async () => {
    const { token, link } = await reader();
    const bytes = Buffer.from(token, 'base64url');
    bytes[40] = (bytes[40] ?? 0) ^ 1;
    const gone = { ...link, projectId: newId() };
    return {
      token,
      link,
      unknown: [
        'x',
        token.slice(0, -1),
        bytes.toString('base64url'),
        randomBytes(81).toString('base64url'),
        randomBytes(97).toString('base64url'),
        `${token}=`,
        `${token}%3D`,
        token.toLowerCase(),
        token.toUpperCase(),
        makeUnsubscribeToken(database.deps.keys, gone),
        '%E0%A4%A',
        'a'.repeat(2_000),
      ],
    };
  };
  const comparable = ({ status, headers, html }: Answer) => ({
    status,
    html,
    headers: [...headers].filter(
      ([name]) => !/^(?:date|x-request-id|traceparent|content-length)$/.test(name),
    ),
  });

  test('200: is said to be incomplete, whatever it is and whatever is asked, and changes nothing', async () => {
    const { unknown } = await strangers();
    const count = async () =>
      (await database.owner.query('select from suppression.history')).rowCount;
    const before = await count();
    const said = comparable(await ask('x'));
    expect(said).toMatchObject({ status: 200 });
    expect(said.html).toContain('<h1>This link is not complete</h1>');
    expect(said.html).toContain('Open the newest mail that you got');
    expect(said.html).not.toMatch(/<form|<button|You are unsubscribed/);
    for (const one of unknown)
      for (const answer of [await ask(one), await post(one), await post(one, BACK)])
        expect(comparable(answer)).toEqual(said);
    expect(await count()).toBe(before);
  });

  test('nobody learns whom we know: of a known address, an erased one and nobody’s the page is the same', async () => {
    const { link } = await strangers();
    const erased = await reader();
    await within((scope) => eraseAddresses(scope, [erased.link.addressKey]));
    const tokens = [link, erased.link, { ...link, addressKey: randomBytes(32) }].map((one) =>
      makeUnsubscribeToken(database.deps.keys, one),
    );
    for (const answer of [ask, post] as const) {
      const [first, ...others] = await Promise.all(tokens.map((token) => answer(token)));
      if (!first) throw new Error('nothing was answered');
      for (const other of others) expect(comparable(other)).toEqual(comparable(first));
    }
  });
});

test('the page keeps to itself: nothing runs or loads, nothing is told, kept, framed or indexed', async () => {
  const { token } = await reader();
  const { headers, html } = await ask(token);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none';/);
  expect(policy).toContain("form-action 'self'; frame-ancestors 'none'");
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-robots-tag')).toBe('noindex, nofollow');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(html).not.toMatch(/<script|https?:|\son\w+=|style="/i);
  expect(html).toMatch(/<html lang="en">[\s\S]*<meta name="viewport"[\s\S]*<main>/);
  expect(html.length).toBeLessThan(6_000);
});

test('a project’s name is text, whatever it is made of', async () => {
  const { project_id } = await createProject(database.deps, '<b>"Tom & Co"</b>');
  const link = { projectId: project_id, addressKey: randomBytes(32), sendId: newId() };
  const { html } = await ask(makeUnsubscribeToken(database.deps.keys, link));
  expect(html).not.toContain('<b>');
  expect(html).toContain('&lt;b&gt;&#34;Tom &amp; Co&#34;&lt;/b&gt;');
});

test('413 body_too_large: one byte past the bound, and not at it', async () => {
  const { token, state } = await reader();
  expect((await post(token, 'x'.repeat(UNSUBSCRIBE_BYTES_MAX + 1))).status).toBe(413);
  expect(await state()).toMatchObject({ unsubscribed_at: null });
  expect((await post(token, 'x'.repeat(UNSUBSCRIBE_BYTES_MAX))).status).toBe(200);
});

test('405 method_not_allowed: nothing but GET and POST', async () => {
  const { token } = await reader();
  for (const method of ['PUT', 'DELETE', 'PATCH']) {
    const { status, headers } = await ask(token, { method });
    expect([status, headers.get('allow')]).toEqual([405, 'HEAD, GET, POST']);
  }
});

test('a link that is asked forty times at once says so once', async () => {
  const { link, token } = await reader();
  const answers = await Promise.all(Array.from({ length: 40 }, () => post(token)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const { rowCount } = await database.owner.query(
    'select from suppression.history where address_key = $1',
    [link.addressKey],
  );
  expect(rowCount).toBe(1);
});
