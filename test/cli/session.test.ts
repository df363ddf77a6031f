// Signing in and out, whose session counts, and what is kept of it where.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { DEVICES_PER_ACCOUNT_MAX } from '../../src/admin/devices.ts';
import { SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX } from '../../src/admin/throttle.ts';
import { EXIT_CODES } from '../../src/cli/failure.ts';
import { keepSession } from '../../src/cli/kept.ts';
import { OWNER, testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testCli } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const { home, trunkline, as } = testCli(database, api);

/** Something that answers, and is not ours. */
const listen = async (answer: RequestListener): Promise<string> => {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const LOGIN = ['login', '--email', OWNER.email, '--password-stdin'];
const login = (url = api.url) =>
  trunkline([...LOGIN, '--url', url], { input: `${OWNER.password}\n` });
const sessionFile = (url = api.url) =>
  join(home, 'trunkline', 'sessions', `${encodeURIComponent(url)}.json`);
const kept = () => JSON.parse(readFileSync(sessionFile(), 'utf8')) as { session: string };
const countSessions = async (): Promise<number> =>
  Number((await database.owner.query('select count(*) from admin.sessions')).rows[0].count);

beforeEach(async () => {
  await database.owner.query('delete from admin.sessions');
});

test('whoever signs in is known from then on, until they sign out', async () => {
  const signedIn = await login();
  expect(signedIn).toMatchObject({ code: 0, stderr: '' });
  expect(signedIn.stdout).toMatch(/^Signed in to http:\S+ as owner@trunkline.test, until \d{4}-/);
  const who = await trunkline(['whoami', '--project', api.project.project_id]);
  expect(who.stdout).toContain('owner@trunkline.test at http://127.0.0.1');
  expect(who.stdout).toContain('administrator of the installation');
  expect(who.stdout).toContain(`project: ${api.project.project_id}`);
  expect((await trunkline(['logout'])).stdout).toBe(`Signed out of ${api.url}.\n`);
  expect(await countSessions()).toBe(0);
  expect(await trunkline(['whoami'])).toMatchObject({ code: EXIT_CODES.signed_out, stdout: '' });
  expect((await trunkline(['logout'])).stdout).toBe(`You are not signed in at ${api.url}.\n`);
});

test('the password is in nothing that is kept, and nobody else may read the session', async () => {
  await login();
  const folder = join(home, 'trunkline');
  expect(statSync(sessionFile()).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'config.json')).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'sessions')).mode & 0o777).toBe(0o700);
  chmodSync(sessionFile(), 0o644);
  await login();
  expect(statSync(sessionFile()).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(folder, 'sessions'))).toHaveLength(1);
  expect(readFileSync(sessionFile(), 'utf8')).not.toContain(OWNER.password);
});

test('what could not be kept leaves nothing of the session behind', async () => {
  await trunkline(['logout']);
  mkdirSync(join(sessionFile(), 'in-the-way'), { recursive: true });
  const session = { url: api.url, email: OWNER.email, session: 'secret', expires_at: '' };
  expect(() => keepSession({ env: { XDG_CONFIG_HOME: home } }, session)).toThrow(
    /EISDIR|ENOTEMPTY/,
  );
  rmSync(sessionFile(), { recursive: true });
  expect(readdirSync(join(home, 'trunkline', 'sessions'))).toEqual([]);
});

test('signing in again ends the session before it', async () => {
  await login();
  const { session } = kept();
  await login();
  expect(kept().session).not.toBe(session);
  expect(await countSessions()).toBe(1);
});

test('wrong passwords of strangers do not block the next login of a machine that signed in before', async () => {
  await login();
  await trunkline(['logout']);
  const device = join(home, 'trunkline', 'devices', `${encodeURIComponent(api.url)}.json`);
  expect(statSync(device).mode & 0o777).toBe(0o600);
  for (let at = 0; at < SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX; at += 1)
    expect((await admin.signIn({ ...OWNER, password: 'not the password' })).status).toBe(401);
  expect((await admin.signIn()).status).toBe(429);
  expect((await login()).code).toBe(0);
  rmSync(device);
  const { code, stderr } = await login();
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/came from your network\. Try again in 1[45] minutes\./);
  await database.owner.query('delete from base.rate_limit_counters');
});

test('each installation has a session of its own, and the last login is the one that is meant', async () => {
  const other = api.url.replace('127.0.0.1', 'localhost');
  await login(other);
  await login();
  const withoutUrl = { env: { TRUNKLINE_URL: '' } };
  expect((await trunkline(['whoami'], withoutUrl)).stdout).toContain(`at ${api.url}`);
  const there = await trunkline(['whoami', '--url', `${other}/console`], withoutUrl);
  expect(there.stdout).toContain(`at ${other}`);
  await trunkline(['logout', '--url', other]);
  expect((await trunkline(['whoami', '--url', other])).code).toBe(EXIT_CODES.signed_out);
  expect((await trunkline(['whoami'])).code).toBe(0);
});

test('a password is typed where nobody sees it, and never an argument', async () => {
  const typed = await trunkline(['login', '--email', OWNER.email], {
    isTerminal: true,
    input: `wrong\u0015${OWNER.password}x\u007F\r`,
  });
  expect(typed).toMatchObject({ code: 0 });
  expect(typed.stderr).toMatch(/^Password of owner@trunkline.test at http:\S+: \n$/);
  expect(await trunkline(['login', '--password', 'x'])).toMatchObject({
    code: EXIT_CODES.usage,
    stderr: expect.stringContaining('There is no option --password.') as string,
  });
  expect(await trunkline(['login', '--email', OWNER.email])).toMatchObject({
    code: EXIT_CODES.usage,
    stderr: expect.stringContaining('--password-stdin') as string,
  });
});

test('blanks around an address that was pasted are nobody’s', async () => {
  const pasted = `\u00A0 ${OWNER.email}\t `;
  const args = ['login', '--email', pasted, '--password-stdin'];
  const { code, stdout } = await trunkline(args, { input: OWNER.password });
  expect([code, stdout]).toEqual([0, expect.stringContaining(` as ${OWNER.email}, until`)]);
});

test('the address and the password are typed, one after the other, also ahead', async () => {
  const input = `${OWNER.email}\r\n${OWNER.password}\r\n`;
  const { code, stderr } = await trunkline(['login'], { isTerminal: true, input });
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^E-mail: Password of owner@/)]);
  const cut = await trunkline(['login'], { isTerminal: true, input: OWNER.email });
  expect([cut.code, cut.stderr]).toEqual([1, expect.stringContaining('There was no answer.')]);
});

test('Ctrl-C while a password is asked for ends it, and keeps nothing', async () => {
  await trunkline(['logout']);
  const args = ['login', '--email', OWNER.email];
  const { code } = await trunkline(args, { isTerminal: true, input: 'corr\u0003' });
  expect([code, await countSessions()]).toEqual([130, 0]);
});

test('3: a wrong password, and an address that nobody has, are told alike', async () => {
  const answers = [];
  for (const email of [OWNER.email, 'nobody@trunkline.test']) {
    const args = ['login', '--email', email, '--password-stdin'];
    answers.push(await trunkline(args, { input: 'not the password' }));
  }
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[0]).toMatchObject({
    code: EXIT_CODES.signed_out,
    stdout: '',
    stderr: 'No person has this e-mail address and this password. Check both.\n',
  });
});

test('2: an empty password is asked of nobody', async () => {
  expect(await trunkline(LOGIN, { input: '\n' })).toMatchObject({ code: EXIT_CODES.usage });
});

test('3: a session that has ended says how to sign in', async () => {
  await login();
  await database.owner.query(
    `update admin.sessions set created_at = created_at - interval '15 days',
      last_seen_at = last_seen_at - interval '15 days', expires_at = expires_at - interval '15 days'`,
  );
  const { code, stderr } = await trunkline(['projects', 'list']);
  expect(code).toBe(EXIT_CODES.signed_out);
  expect(stderr).toContain(`trunkline login --url ${api.url}`);
  const ended = await trunkline(['logout', '--json']);
  expect([ended.code, JSON.parse(ended.stdout)]).toEqual([0, { url: api.url, ended: false }]);
});

describe('a token for CI', () => {
  test('is printed, kept nowhere, and counts before a session that is kept', async () => {
    await trunkline(['logout']);
    const printed = await trunkline([...LOGIN, '--print'], { input: OWNER.password });
    expect(printed.stdout).toMatch(/^[\w-]{43}\.[\w-]{43}\n$/);
    expect(printed.stderr).toContain('TRUNKLINE_SESSION');
    expect((await trunkline(['whoami'])).code).toBe(EXIT_CODES.signed_out);
    const env = { TRUNKLINE_SESSION: printed.stdout.trim() };
    const { stdout } = await trunkline(['whoami', '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ email: OWNER.email, is_admin: true });
    expect((await trunkline(LOGIN, { env, input: OWNER.password })).stderr).toContain(
      'counts before',
    );
    const viewer = await makePerson(database, {
      projectId: api.project.project_id,
      role: 'viewer',
    });
    expect((await as(viewer, ['whoami'])).stdout).toContain(viewer.email);
  });

  test('attack: twenty printed tokens leave the machine of the owner known', async () => {
    await login();
    expect(DEVICES_PER_ACCOUNT_MAX).toBe(20);
    for (let at = 0; at < DEVICES_PER_ACCOUNT_MAX; at += 1)
      expect((await trunkline([...LOGIN, '--print'], { input: OWNER.password })).code).toBe(0);
    for (let at = 0; at < SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX; at += 1)
      expect((await admin.signIn({ ...OWNER, password: 'not the password' })).status).toBe(401);
    expect((await admin.signIn()).status).toBe(429);
    expect((await login()).code).toBe(0);
    await database.owner.query('delete from base.rate_limit_counters');
  });

  test('is shown to no installation but that of TRUNKLINE_URL', async () => {
    const cookies: (string | undefined)[] = [];
    const other = await listen((request, answer) => {
      cookies.push(request.headers.cookie);
      answer.setHeader('content-type', 'application/json').end('{}');
    });
    const env = { TRUNKLINE_SESSION: 'A'.repeat(43) };
    const { code, stderr } = await trunkline(['projects', '--url', other], { env });
    expect([code, cookies]).toEqual([EXIT_CODES.signed_out, []]);
    expect(stderr).toContain('TRUNKLINE_SESSION counts at TRUNKLINE_URL alone.');
    expect(cookies).toEqual([]);
  });

  test('2: without TRUNKLINE_URL it is shown to nobody, and nobody else’s session counts in its place', async () => {
    await login();
    const env = { TRUNKLINE_SESSION: 'A'.repeat(43), TRUNKLINE_URL: '' };
    for (const args of [['whoami'], ['whoami', '--url', api.url], ['logout']]) {
      const { code, stdout, stderr } = await trunkline(args, { env });
      expect([args, code, stdout]).toEqual([args, EXIT_CODES.usage, '']);
      expect(stderr).toContain('TRUNKLINE_SESSION is set and TRUNKLINE_URL is not');
      expect(stderr).toContain(`Set TRUNKLINE_URL, too: to ${api.url}`);
    }
    expect((await trunkline(['login', '--help'])).stdout).toContain('TRUNKLINE_URL');
    expect((await trunkline(['whoami'])).code).toBe(0);
  });

  test('3: that is no token is nobody’s', async () => {
    const env = { TRUNKLINE_SESSION: 'x; Path=/' };
    expect((await trunkline(['projects'], { env })).code).toBe(EXIT_CODES.signed_out);
  });
});

describe('2: nothing is sent in the clear to another machine', () => {
  const FAR = ['http://trunkline.example.com', 'http://127.evil.com', 'http://10.0.0.1:8080'];
  test.each(FAR)('%s', async (url) => {
    const refused = {
      code: EXIT_CODES.usage,
      stdout: '',
      stderr: expect.stringMatching(/^\S+ is not encrypted: .*\n.*--insecure/) as string,
    };
    // Before anything is asked: not a question is on the terminal.
    expect(await trunkline(['login', '--url', url], { isTerminal: true })).toEqual(refused);
    const env = { TRUNKLINE_SESSION: 'A'.repeat(43), TRUNKLINE_URL: url };
    for (const args of [['projects'], ['keys', 'create', 'server'], ['resume-sending'], ['logout']])
      expect(await trunkline(args, { env })).toEqual(refused);
  });

  test('unless that is said, and to this machine by any of its names', async () => {
    const args = ['projects', '--url'];
    const signedOut = { code: EXIT_CODES.signed_out };
    expect(await trunkline([...args, FAR[0] ?? '', '--insecure'])).toMatchObject(signedOut);
    for (const host of ['127.255.0.9', '127.1', 'localhost', '[::1]'])
      expect(await trunkline([...args, `http://${host}:9`])).toMatchObject(signedOut);
    expect(await trunkline([...args, 'https://127.evil.com'])).toMatchObject(signedOut);
  });
});

describe('4: what does not answer as a Trunkline does', () => {
  const say = async (url: string) => {
    const { code, stderr } = await trunkline([...LOGIN, '--url', url], { input: OWNER.password });
    expect(code).toBe(EXIT_CODES.unreachable);
    return stderr;
  };

  test('nobody is there', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    expect(await say(`http://127.0.0.1:${port}`)).toContain('does not answer (ECONNREFUSED)');
    expect(await say('https://nowhere.invalid')).toMatch(/does not answer \(E\w+\)/);
  });

  test('something else answers', async () => {
    const page = await listen((_, answer) =>
      answer.setHeader('content-type', 'text/html').end('<p>'),
    );
    expect(await say(page)).toContain('is no Trunkline');
    const other = await listen((_, answer) =>
      answer.setHeader('content-type', 'application/json').end('{"hello": "world"}'),
    );
    expect(await say(other)).toContain('is no Trunkline');
    const broken = await listen((_, answer) =>
      answer.setHeader('content-type', 'application/json').end('{"hel'),
    );
    expect(await say(broken)).toContain('is no Trunkline');
  });

  test('a proxy answers in its place', async () => {
    const proxy = await listen((_, answer) => answer.writeHead(502).end('Bad gateway'));
    expect(await say(proxy)).toContain('answers 502: the service is not up');
  });

  test('an answer that is cut off leaves open what was done', async () => {
    const cut = await listen((request) => void request.socket.destroy());
    expect(await say(cut)).toContain('may have been: look before you repeat it');
  });

  test('it leads elsewhere: the password does not follow', async () => {
    const asked: string[] = [];
    const thief = await listen((request, answer) => {
      asked.push(request.url ?? '');
      answer.end();
    });
    const leading = await listen((_, answer) => answer.writeHead(308, { location: thief }).end());
    expect(await say(leading)).toContain(`Is it ${thief}?`);
    expect(asked).toEqual([]);
  });

  test('the database is away', async () => {
    const away = await listen((_, answer) => {
      const data = {
        code: 'X',
        httpStatus: 503,
        detail: 'The database is away.',
        request_id: 'r',
        issues: [],
        members: {},
      };
      answer
        .writeHead(503, { 'content-type': 'application/json' })
        .end(JSON.stringify([{ error: { code: -1, message: 'unavailable', data } }]));
    });
    expect(await say(away)).toBe('The database is away.\n');
  });
});
