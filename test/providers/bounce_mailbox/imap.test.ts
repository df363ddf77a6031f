// A session with a real IMAP server at the socket: what works, and what no server may do to a worker.
import { describe, expect, test } from 'vitest';
import { MESSAGE_BYTES_MAX, withMailbox } from '../../../src/providers/bounce_mailbox/imap.ts';
import type {
  MailboxSession,
  MailboxSettings,
} from '../../../src/providers/bounce_mailbox/imap.ts';
import { imapServer } from '../../support/imap_server.ts';
import { Resolver } from 'node:dns/promises';

const server = imapServer();
const LOOPBACK = { allowNetworks: ['127.0.0.0/8'], nameServers: new Resolver() };
const QUICK = { connectMs: 1_000, silentMs: 1_000, turnMs: 2_000 };
const DAY_MS = 86_400_000;

const settingsOf = (given: Partial<MailboxSettings> = {}): MailboxSettings => ({
  ...server.settings,
  folder: 'INBOX',
  after_read: 'mark_seen',
  move_to: null,
  ...given,
});

const within = <T>(
  work: (session: MailboxSession) => Promise<T>,
  given: Partial<MailboxSettings> = {},
) => withMailbox(settingsOf(given), { ...LOOPBACK, imapTimeouts: QUICK }, work);

const WEEK_AGO = new Date(Date.now() - 7 * DAY_MS);

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
});
