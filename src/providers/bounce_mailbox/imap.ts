import { isIP } from 'node:net';
import type { ImapFlow } from 'imapflow';
import { resolveEgress } from '../../base/egress.ts';
import type { Network } from '../transport.ts';
import { toMailboxFailure } from './imap_failures.ts';
import type { MailboxFailure } from './imap_failures.ts';
import type { MailboxRow } from './queries.ts';

/** How to read a mailbox, its password in clear: in memory only. */
export type MailboxSettings = Pick<
  MailboxRow,
  'host' | 'port' | 'secure' | 'username' | 'folder' | 'after_read' | 'move_to'
> & { password: string };

/** How much of a message is read. A report is at its start; what a server returns of the original may be longer. */
export const MESSAGE_BYTES_MAX = 256 * 1024;
/** What a server may send at once besides: a list of numbers, or the names of folders. */
const LINE_BYTES_MAX = 2 * 1024 * 1024;
const RESPONSE_BYTES_MAX = MESSAGE_BYTES_MAX + LINE_BYTES_MAX;
const RESPONSE_TOKENS_MAX = 20_000;

export type ImapTimeouts = { connectMs: number; silentMs: number; turnMs: number };
const IMAP_TIMEOUTS: ImapTimeouts = {
  connectMs: 10_000,
  silentMs: 20_000,
  /** One turn in all, however slowly the server answers. */
  turnMs: 60_000,
};

/** An open folder of a mailbox. Each call fails once the time of the turn is over. */
export type MailboxSession = {
  uidValidity: number;
  /** Every message has a lower UID (RFC 9051 §2.3.1.1). */
  uidNext: number;
  /** Returns the UIDs in a range of messages that arrived since a day, in their order. */
  search: (range: { from: number; to: number }, since: Date) => Promise<number[]>;
  /** Returns the first MESSAGE_BYTES_MAX bytes of a message; null where it is gone. */
  fetch: (uid: number) => Promise<Buffer | null>;
  /** Marks messages as read, moves or deletes them, as the settings say. */
  finish: (uids: readonly number[]) => Promise<void>;
};

export type MailboxOutcome<T> =
  { kind: 'done'; value: T } | { kind: 'failed'; failure: MailboxFailure };

type Way = Pick<Network, 'allowNetworks' | 'nameServers'> & {
  imapTimeouts?: ImapTimeouts;
  /** Ends the session: its work fails with the reason of the signal. */
  signal?: AbortSignal;
};

const makeClient = async (
  { host, port, secure, username, password }: MailboxSettings,
  address: string,
  { connectMs, silentMs }: ImapTimeouts,
): Promise<ImapFlow> => {
  // Few installations read mailboxes, and the library takes 30 MiB of each process that loads it.
  const { ImapFlow: Client } = await import('imapflow');
  const client = new Client({
    host: address,
    port,
    secure: secure === 'ssl',
    ...(secure === 'ssl' ? {} : { doSTARTTLS: secure === 'starttls' }),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    tls: { minVersion: 'TLSv1.2' },
    auth: { user: username, pass: password },
    logger: false,
    disableAutoIdle: true,
    disableAutoEnable: true,
    // A few compressed bytes may be very many.
    disableCompression: true,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silentMs,
    maxLiteralSize: MESSAGE_BYTES_MAX,
    maxLineLength: LINE_BYTES_MAX,
    maxResponseSize: RESPONSE_BYTES_MAX,
    maxResponseTokens: RESPONSE_TOKENS_MAX,
  });
  // Without a listener Node ends the process; each call fails with the same.
  client.on('error', () => {});
  return client;
};

const toRange = (uids: readonly number[]): string => uids.join(',');

const finishWith = async (
  client: ImapFlow,
  { after_read: afterRead, move_to: moveTo }: MailboxSettings,
  uids: readonly number[],
): Promise<void> => {
  const byUid = { uid: true };
  const isDone = await (async () => {
    if (afterRead === 'move') return client.messageMove(toRange(uids), moveTo ?? '', byUid);
    if (afterRead === 'mark_seen') return client.messageFlagsAdd(toRange(uids), ['\\Seen'], byUid);
    // Without UIDPLUS (RFC 4315) an EXPUNGE would remove what others have marked as deleted.
    return client.capabilities.has('UIDPLUS')
      ? client.messageDelete(toRange(uids), byUid)
      : client.messageFlagsAdd(toRange(uids), ['\\Seen', '\\Deleted'], byUid);
  })();
  if (isDone === false) throw new Error('the server refused to change messages');
};

/** A failure of the server, of its connection or of its settings. */
class MailboxError extends Error {
  override readonly name = 'MailboxError';
  readonly failure: MailboxFailure;

  constructor(cause: unknown, secure: MailboxSettings['secure']) {
    super('the mailbox failed', { cause });
    this.failure = toMailboxFailure(cause, secure);
  }
}

const search = async (
  client: ImapFlow,
  { from, to }: { from: number; to: number },
  since: Date,
): Promise<number[]> => {
  const found = await client.search({ uid: `${from}:${to}`, since }, { uid: true });
  if (!Array.isArray(found)) throw new Error('the server refused a search');
  // A server may return more than was requested, as for `*` below the last UID.
  return found.filter((uid) => uid >= from && uid <= to).toSorted((a, b) => a - b);
};

const fetchMessage = async (client: ImapFlow, uid: number): Promise<Buffer | null> => {
  const source = { start: 0, maxLength: MESSAGE_BYTES_MAX };
  const message = await client.fetchOne(String(uid), { uid: true, source }, { uid: true });
  return message && message.source ? message.source : null;
};

const toSession = (
  client: ImapFlow,
  settings: MailboxSettings,
  { uidValidity, uidNext }: { uidValidity: bigint; uidNext: number },
): MailboxSession => {
  const guard = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      throw new MailboxError(error, settings.secure);
    }
  };
  return {
    uidValidity: Number(uidValidity),
    uidNext,
    search: (range, since) => guard(search(client, range, since)),
    fetch: (uid) => guard(fetchMessage(client, uid)),
    finish: (uids) =>
      uids.length > 0 ? guard(finishWith(client, settings, uids)) : Promise.resolve(),
  };
};

const openFolder = async (client: ImapFlow, settings: MailboxSettings): Promise<MailboxSession> => {
  const { folder, move_to: moveTo, secure } = settings;
  try {
    await client.connect();
    const opened = await client.mailboxOpen(folder);
    if (moveTo !== null && (await client.status(moveTo, { messages: true })) === false)
      throw Object.assign(new Error('no such folder'), { mailboxMissing: true });
    const { uidValidity, uidNext } = opened;
    if (!uidValidity || !uidNext) throw new Error('the server says no UIDVALIDITY or UIDNEXT');
    return toSession(client, settings, { uidValidity, uidNext });
  } catch (error) {
    throw new MailboxError(error, secure);
  }
};

/** Returns the address to connect to, or why there is none. */
const findAddress = async (
  { host, secure }: MailboxSettings,
  { allowNetworks, nameServers }: Way,
): Promise<{ address: string } | { failure: MailboxFailure }> => {
  const answer = await resolveEgress(host, allowNetworks, nameServers);
  // An unknown name and a private address look alike, so that a customer finds no names inside.
  if (answer.kind !== 'open') return { failure: 'bounce_mailbox_unreachable' };
  if (secure === 'none' && !answer.isInAllowedNetwork)
    return { failure: 'bounce_mailbox_tls_required' };
  return { address: answer.address };
};

/**
 * Connects to the checked address, logs in, opens the folder and runs `work`. The connection ends with the time of one
 * turn, whatever the server does. A failure of the server is the outcome; another error of `work` is thrown.
 */
export const withMailbox = async <T>(
  settings: MailboxSettings,
  way: Way,
  work: (session: MailboxSession) => Promise<T>,
): Promise<MailboxOutcome<T>> => {
  const found = await findAddress(settings, way);
  if ('failure' in found) return { kind: 'failed', failure: found.failure };
  const timeouts = way.imapTimeouts ?? IMAP_TIMEOUTS;
  const client = await makeClient(settings, found.address, timeouts);
  way.signal?.throwIfAborted();
  const { promise: over, reject } = Promise.withResolvers<never>();
  over.catch(() => {});
  const end = (why: unknown) => {
    client.close();
    reject(why as Error);
  };
  const tooLong = new MailboxError({ code: 'ETIMEDOUT' }, settings.secure);
  const timer = setTimeout(() => end(tooLong), timeouts.turnMs);
  const onAbort = () => end(way.signal?.reason);
  way.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const session = await Promise.race([openFolder(client, settings), over]);
    return { kind: 'done', value: await Promise.race([work(session), over]) };
  } catch (error) {
    way.signal?.throwIfAborted();
    if (!(error instanceof MailboxError)) throw error;
    return { kind: 'failed', failure: error.failure };
  } finally {
    clearTimeout(timer);
    way.signal?.removeEventListener('abort', onAbort);
    client.close();
  }
};
