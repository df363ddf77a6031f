// A session with a real IMAP server at the socket: what works, and what no server may do to a worker.
import { Resolver } from 'node:dns/promises';
import { describe, expect, test } from 'vitest';
import { MESSAGE_BYTES_MAX, withMailbox } from '../../../src/providers/bounce_mailbox/imap.ts';
import type {
  MailboxSession,
  MailboxSettings,
} from '../../../src/providers/bounce_mailbox/imap.ts';
import { imapServer } from '../../support/imap_server.ts';
import type { ImapServer } from '../../support/imap_server.ts';

const server = imapServer();
const starttls = imapServer({ secure: 'starttls' });
const plain = imapServer({ secure: 'none' });
const stranger = imapServer({ trusted: false });
const LOOPBACK = { allowNetworks: ['127.0.0.0/8'], nameServers: new Resolver() };
const QUICK = { connectMs: 1_500, silentMs: 1_500, turnMs: 3_000 };
const DAY_MS = 86_400_000;
const WEEK_AGO = new Date(Date.now() - 7 * DAY_MS);

const settingsOf = (given: Partial<MailboxSettings> = {}, at = server): MailboxSettings => ({
  ...at.settings,
  folder: 'INBOX',
  after_read: 'mark_seen',
  move_to: null,
  ...given,
});

type Way = { allowNetworks: string[]; nameServers: Resolver };

const within = <T>(
  work: (session: MailboxSession) => Promise<T>,
  given: Partial<MailboxSettings> = {},
  way: Way = LOOPBACK,
) => withMailbox(settingsOf(given), { ...way, imapTimeouts: QUICK }, work);

const open = (given: Partial<MailboxSettings>, at: ImapServer = server, way: Way = LOOPBACK) =>
  withMailbox(settingsOf(given, at), { ...way, imapTimeouts: QUICK }, () =>
    Promise.resolve('open'),
  );

const failed = (failure: string) => ({ kind: 'failed', failure });
const OPEN = { kind: 'done', value: 'open' };

describe('a session', () => {
  test('finds messages by UID and day, and fetches each', async () => {
    server.deliver('Subject: old\r\n\r\nold', new Date(Date.now() - 30 * DAY_MS));
    server.deliver('Subject: one\r\n\r\none');
    server.deliver('Subject: two\r\n\r\ntwo');
    const outcome = await within(async (session) => {
      const uids = await session.search({ from: 1, to: session.uidNext - 1 }, WEEK_AGO);
      return { uids, raw: String(await session.fetch(uids[0] ?? 0)), gone: await session.fetch(9) };
    });
    expect(outcome).toEqual({
      kind: 'done',
      value: { uids: [2, 3], raw: 'Subject: one\r\n\r\none', gone: null },
    });
  });

  test('fetches so much of a message and no more, and does not mark it', async () => {
    server.deliver(Buffer.alloc(MESSAGE_BYTES_MAX, 'a'));
    server.deliver(Buffer.alloc(MESSAGE_BYTES_MAX + 1, 'a'));
    const outcome = await within(async (session) => [
      (await session.fetch(1))?.length,
      (await session.fetch(2))?.length,
    ]);
    expect(outcome).toMatchObject({ value: [MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX] });
    expect(server.commands.filter((one) => /FETCH/.test(one)).join()).toContain('BODY.PEEK[]');
  });

  test.each([
    [
      'mark_seen',
      null,
      [
        ['1', '\\Seen'],
        ['2', ''],
      ],
      [],
    ],
    ['move', 'Done', [['2', '']], ['one']],
    ['delete', null, [['2', '']], []],
  ] as const)('finishes a message: %s', async (after_read, move_to, left, moved) => {
    server.folder('Done');
    for (const text of ['one', 'two']) server.deliver(text);
    await within((session) => session.finish([1]), { after_read, move_to });
    const flags = server.inbox.messages.map(({ uid, flags }) => [String(uid), [...flags].join()]);
    expect(flags).toEqual(left);
    expect(server.folder('Done').messages.map(({ raw }) => String(raw))).toEqual(moved);
  });

  test('without UIDPLUS it deletes nothing that others have marked', async () => {
    server.offersUidPlus = false;
    for (const text of ['one', 'two']) server.deliver(text);
    server.inbox.messages[1]?.flags.add('\\Deleted');
    await within((session) => session.finish([1]), { after_read: 'delete' });
    expect(server.inbox.messages.map(({ flags }) => [...flags].toSorted())).toEqual([
      ['\\Deleted', '\\Seen'],
      ['\\Deleted'],
    ]);
  });

  test('throws an error of its work', async () => {
    await expect(within(() => Promise.reject(new Error('bug')))).rejects.toThrow('bug');
  });
});

describe('a connection', () => {
  test('is made over TLS, STARTTLS, or in a network of the operator without', async () => {
    expect(await open({})).toEqual(OPEN);
    expect(await open({}, starttls)).toEqual(OPEN);
    expect(starttls.commands.indexOf('STARTTLS')).toBeLessThan(starttls.commands.indexOf('LOGIN'));
    expect(await open({}, plain)).toEqual(OPEN);
  });

  test('goes to no private address, unless the operator lists its network', async () => {
    expect(await open({}, server, { ...LOOPBACK, allowNetworks: [] })).toEqual(
      failed('bounce_mailbox_unreachable'),
    );
    expect(await open({ host: 'nowhere.invalid' })).toEqual(failed('bounce_mailbox_unreachable'));
    expect(server.connections).toBe(0);
  });

  test('shows no password in clear text outside of such a network', async () => {
    const resolver = Object.assign(new Resolver(), {
      resolve4: () => Promise.resolve(['192.88.100.1']),
      resolve6: () => Promise.resolve([]),
    });
    const way = { allowNetworks: [], nameServers: resolver };
    expect(await open({ host: 'imap.example.net', secure: 'none' }, plain, way)).toEqual(
      failed('bounce_mailbox_tls_required'),
    );
  });

  test.each<[string, Partial<MailboxSettings>, ImapServer, string]>([
    ['a port where nothing listens', { port: 1 }, server, 'unreachable'],
    ['a server without STARTTLS', { secure: 'starttls' }, plain, 'starttls_not_offered'],
    ['a certificate of an unknown authority', {}, stranger, 'certificate_invalid'],
    ['a wrong password', { password: 'wrong' }, server, 'login_refused'],
    ['a folder that is not there', { folder: 'Nowhere' }, server, 'folder_missing'],
    [
      'a folder to move to that is not there',
      { after_read: 'move', move_to: 'Nowhere' },
      server,
      'folder_missing',
    ],
  ])('fails for %s', async (_why, given, at, failure) => {
    expect(await open(given, at)).toEqual(failed(`bounce_mailbox_${failure}`));
  });

  test('takes a login that is refused for the moment for no wrong password (RFC 5530)', async () => {
    const write = (tag: string) => `${tag} NO [UNAVAILABLE] directory is away\r\n`;
    server.play(/^LOGIN/, { write });
    expect(await open({})).toEqual(failed('bounce_mailbox_unusable'));
  });
});

describe('a hostile server', () => {
  const search = () =>
    within((session) => session.search({ from: 1, to: 10 }, WEEK_AGO)).then(({ kind }) => kind);

  test.each([/^GREETING/, /^CAPABILITY/, /^LOGIN/, /^SELECT/, /^UID SEARCH/])(
    'that says nothing to %s ends with the time of a turn',
    async (command) => {
      for (const at of [server]) at.play(command, 'hang');
      const begun = performance.now();
      expect(await search()).toBe('failed');
      expect(performance.now() - begun).toBeLessThan(QUICK.turnMs + 2_000);
    },
  );

  test('that cuts the connection is a failure', async () => {
    server.play(/^UID SEARCH/, 'drop');
    expect(await search()).toBe('failed');
  });

  test('that writes without end is cut off, also where each piece comes in time', async () => {
    server.play(/^UID SEARCH/, 'hang');
    const drip = setInterval(() => server.write('* 1 EXISTS\r\n'), 200);
    const begun = performance.now();
    expect(await search()).toBe('failed');
    clearInterval(drip);
    expect(performance.now() - begun).toBeLessThan(QUICK.turnMs + 2_000);
  });

  test.each([
    ['a line without end', Buffer.alloc(4 * 1024 * 1024, 'a')],
    ['a literal of gigabytes', Buffer.from('* 1 FETCH (UID 1 BODY[]<0> {4000000000}\r\n')],
    [
      'a literal of one byte too many',
      Buffer.from(`* 1 FETCH (UID 1 BODY[]<0> {${MESSAGE_BYTES_MAX + 1}}\r\n`),
    ],
    ['many tokens', Buffer.from(`* SEARCH (${'() '.repeat(300_000)})\r\n`)],
    ['deep nesting', Buffer.from(`* FETCH ${'('.repeat(300_000)}\r\n`)],
  ])('with %s is refused, and holds no memory', async (_what, bytes) => {
    const before = process.memoryUsage().heapUsed + process.memoryUsage().external;
    server.play(/^UID SEARCH/, { write: () => bytes });
    expect(await search()).toBe('failed');
    const after = process.memoryUsage().heapUsed + process.memoryUsage().external;
    expect(after - before).toBeLessThan(200 * 1024 * 1024);
  });

  test('may return UIDs outside the requested range: they are left out', async () => {
    const write = (tag: string) => `* SEARCH 0 7 5 99 4294967295\r\n${tag} OK done\r\n`;
    server.play(/^UID SEARCH/, { write });
    const outcome = await within((session) => session.search({ from: 1, to: 10 }, WEEK_AGO));
    expect(outcome).toEqual({ kind: 'done', value: [5, 7] });
  });

  test('that says no UIDVALIDITY is not read', async () => {
    server.play(/^SELECT/, { write: (tag) => `* 0 EXISTS\r\n${tag} OK selected\r\n` });
    expect(await open({})).toEqual(failed('bounce_mailbox_unusable'));
  });
});
