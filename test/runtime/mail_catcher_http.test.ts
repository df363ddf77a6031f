import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { WAIT_MS_MAX } from '../../src/runtime/mail_catcher/http.ts';
import { asOtherUser, whyNoOtherUser } from '../support/other_user.ts';
import { MAIL, runningCatcher } from './running_catcher.ts';

const catcher = runningCatcher();
const subjects = async (query = '') =>
  (await catcher.list(query)).map(({ subject }: { subject: string }) => subject);
const sendAll = async (...all: string[]) => {
  for (const subject of all) await catcher.send({ ...MAIL, subject });
};
const expectError = async (response: Response, status: number, error: string) => {
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toContain('application/json');
  const body = (await response.json()) as { detail: string };
  expect(body).toMatchObject({ error, status, detail: expect.any(String) });
  return body;
};
const unknownId = '01900000-0000-7000-8000-000000000000';

describe('GET /messages', () => {
  test('200: the mails, oldest first; none at first', async () => {
    expect(await catcher.list()).toEqual([]);
    await sendAll('one', 'two', 'three');
    expect(await subjects()).toEqual(['one', 'two', 'three']);
  });

  test('200: after a mail, only newer ones', async () => {
    await sendAll('one', 'two', 'three');
    const [one, , three] = await catcher.list();
    expect(await subjects(`?after=${one.id}`)).toEqual(['two', 'three']);
    expect(await subjects(`?after=${three.id}`)).toEqual([]);
  });

  test('200: with wait_ms it answers when a newer mail comes', async () => {
    await sendAll('one');
    const [one] = await catcher.list();
    const waiting = subjects(`?after=${one.id}&wait_ms=${WAIT_MS_MAX}`);
    await sendAll('two');
    expect(await waiting).toEqual(['two']);
  });

  test('200: with wait_ms it answers at once when there is something already', async () => {
    await sendAll('one');
    expect(await subjects(`?wait_ms=${WAIT_MS_MAX}`)).toEqual(['one']);
  });

  test('200: with wait_ms it answers an empty list when the time is over', async () => {
    expect(await catcher.list('?wait_ms=20')).toEqual([]);
  });

  test('200: a mail after an emptying ends the wait', async () => {
    await sendAll('one');
    const [one] = await catcher.list();
    const waiting = subjects(`?after=${one.id}&wait_ms=${WAIT_MS_MAX}`);
    await catcher.fetch('/messages', { method: 'DELETE' });
    await sendAll('two');
    expect(await waiting).toEqual(['two']);
  });

  test.each([
    [`wait_ms=${WAIT_MS_MAX + 1}`, '/wait_ms'],
    ['wait_ms=-1', '/wait_ms'],
    ['wait_ms=soon', '/wait_ms'],
    ['after=1', '/after'],
    ['wait=1', '/wait'],
  ])('400 invalid_request: %s', async (query, path) => {
    const body = await expectError(
      await catcher.fetch(`/messages?${query}`),
      400,
      'invalid_request',
    );
    expect(body).toMatchObject({ issues: [{ path }] });
  });
});

describe('one mail, and none', () => {
  test('200: raw is the mail as it came', async () => {
    const dialogue = await catcher.dial();
    const raw = 'Subject: raw\r\n\r\n.dots\r\nand \xe9\r\n';
    await dialogue.mail(Buffer.from(raw.replace('\n.', '\n..'), 'latin1'));
    dialogue.close();
    const [{ id }] = await catcher.list();
    const response = await catcher.fetch(`/messages/${id}/raw`);
    expect(response.headers.get('content-type')).toBe('message/rfc822');
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1')).toBe(raw);
  });

  test('204: DELETE empties', async () => {
    await sendAll('one');
    expect((await catcher.fetch('/messages', { method: 'DELETE' })).status).toBe(204);
    expect(await catcher.list()).toEqual([]);
  });

  test('/changes says that something was caught, and that the mailbox was emptied', async () => {
    const response = await catcher.fetch('/changes');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    await sendAll('one');
    await catcher.fetch('/messages', { method: 'DELETE' });
    let seen = '';
    for await (const chunk of response.body ?? []) {
      seen += Buffer.from(chunk as Uint8Array).toString();
      if (seen.includes('emptied')) break;
    }
    expect(seen).toContain('data: caught\n\ndata: emptied\n\n');
  });
});

describe('what is not there', () => {
  test.each(['/message', '/messages/', `/messages/${unknownId}`, '//', '/%', '/page.js'])(
    '404 not_found: %s',
    async (path) => {
      await expectError(await catcher.fetch(path), 404, 'not_found');
    },
  );

  test.each([`/messages/${unknownId}/raw`, `/messages/${unknownId}/html`, '/messages/x/raw'])(
    '404 not_found: no such mail at %s',
    async (path) => {
      await expectError(await catcher.fetch(path), 404, 'not_found');
    },
  );

  test.each([
    ['POST', '/', 'GET, HEAD'],
    ['PUT', '/messages', 'GET, HEAD, DELETE'],
    ['DELETE', `/messages/${unknownId}/raw`, 'GET, HEAD'],
    ['OPTIONS', '/changes', 'GET, HEAD'],
  ])('405 method_not_allowed: %s %s', async (method, path, allow) => {
    const response = await catcher.fetch(path, { method });
    expect(response.headers.get('allow')).toBe(allow);
    await expectError(response, 405, 'method_not_allowed');
  });

  test.each(['/', '/messages', '/changes'])('200: HEAD %s has no body', async (path) => {
    const response = await catcher.fetch(path, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  test('404 not_found: a name of another site that points here reads nothing', async () => {
    await sendAll('secret');
    const answers = ['rebound.test', 'localhost', '127.0.0.1:1', '[::1]'].map(
      (host) =>
        new Promise<number | undefined>((resolve, reject) => {
          const onAnswer = (answer: IncomingMessage) => resolve(answer.resume().statusCode);
          get(`${catcher.now.url}/messages`, { headers: { host } }, onAnswer).on('error', reject);
        }),
    );
    expect(await Promise.all(answers)).toEqual([404, 200, 200, 200]);
  });
});

/** Asks for the emails, and to delete them, from the side of another user. */
const ASK = `
const statuses = [];
for (const [method, path] of [['GET', '/messages'], ['GET', '/'], ['DELETE', '/messages']])
  statuses.push((await fetch(process.argv[1] + path, { method })).status);
console.log(statuses.join(' '));`;

describe('another user of the machine', () => {
  test('404 not_found: reads no email and deletes none', async ({ skip }) => {
    const whyNot = await whyNoOtherUser();
    skip(whyNot !== null, whyNot ?? '');
    await sendAll('secret');
    expect(await asOtherUser(ASK, catcher.now.url)).toBe('404 404 404');
    expect(await subjects()).toEqual(['secret']);
  });
});

describe('the page', () => {
  const page = async (query = '') => (await catcher.fetch(`/${query}`)).text();
  const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>'&`;
  const ESCAPED =
    '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&#39;&amp;';

  test('says what to do next while there is no mail', async () => {
    const text = await page();
    expect(text).toContain('No mail yet');
    expect(text).toContain('make start');
    expect(text).toContain(`${catcher.now.smtpPort}, with STARTTLS`);
  });

  test('lists the mails newest first and shows the newest', async () => {
    await sendAll('older', 'newer');
    const text = await page();
    const [older, newer] = await catcher.list();
    expect(text.indexOf(newer.id)).toBeLessThan(text.indexOf(older.id));
    expect(text).toContain('<h2><bdi>newer</bdi></h2>');
    expect(text).toContain('2 mails');
    expect(await page(`?message=${older.id}`)).toContain('<h2><bdi>older</bdi></h2>');
    expect(await page(`?message=${unknownId}`)).toContain('This mail is not kept any more');
  });

  test('shows every value escaped: subject, addresses, text and headers', async () => {
    const address = `"<script>alert(1)</script>"@acme.test`;
    await catcher.send({
      ...MAIL,
      subject: HOSTILE,
      text: HOSTILE,
      headers: { 'X-Odd': HOSTILE },
      envelope: { from: 'a&b@acme.test', to: [`o'hara@acme.test`] },
      to: address,
    });
    const [{ id }] = await catcher.list();
    for (const view of ['html', 'text', 'headers']) {
      const text = await page(`?message=${id}&view=${view}`);
      const ours = /<script>.*<\/script>/s.exec(text)?.[0] ?? '';
      const rest = text.replace(ours, '');
      expect(ours).not.toContain('alert');
      expect(rest).not.toMatch(/<script|<img/);
      expect(rest).toContain(ESCAPED);
      expect(rest).toContain('a&amp;b@acme.test');
      expect(rest).toContain('o&#39;hara@acme.test');
    }
    expect(await page(`?message=${id}&view=text`)).toContain(`<pre>${ESCAPED}`);
    const reflected = await page(`?message=${encodeURIComponent('<script>reflected')}&view=<b>`);
    expect(reflected).not.toMatch(/reflected|<b>/);
  });

  test('makes links of the web addresses in a text, and of nothing else', async () => {
    const text = 'See https://acme.test/u/1?a=1&b="2", (http://acme.test). javascript:alert(1)';
    await catcher.send({ ...MAIL, text });
    const [{ id }] = await catcher.list();
    const shown = await page(`?message=${id}&view=text`);
    const links = [...shown.matchAll(/<a href="(http[^"]*)" target/g)].map(([, href]) => href);
    expect(links).toEqual(['https://acme.test/u/1?a=1&amp;b=', 'http://acme.test']);
    expect(shown).not.toContain('href="javascript');
  });

  test('runs its own script alone, and frames a mail without scripts', async () => {
    await catcher.send();
    const [{ id }] = await catcher.list();
    const response = await catcher.fetch('/');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|http:/);
    const frame = /<iframe[^>]*>/.exec(await response.text())?.[0];
    expect(frame).toContain(`src="/messages/${id}/html"`);
    expect(frame).toMatch(/sandbox="[^"]*"/);
    expect(frame).not.toMatch(/allow-scripts|allow-same-origin|allow-forms/);
  });

  test('the framed mail is what it sent, under a policy that lets it run and load nothing', async () => {
    const html = '<script>alert(1)</script><p style="color:red">hello</p>';
    await catcher.send({ ...MAIL, html });
    const [{ id }] = await catcher.list();
    const response = await catcher.fetch(`/messages/${id}/html`);
    expect(await response.text()).toContain(html);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^sandbox [^;]*; default-src 'none';/);
    expect(policy).not.toMatch(/allow-scripts|allow-same-origin|script-src|http/);
  });
});
