import type { MailboxFailure } from './imap_failures.ts';
import type { MailboxSession } from './imap.ts';
import type { MailboxRow, ReadState } from './queries.ts';

/** How often a mailbox is read. */
export const READ_EVERY_SECONDS = 60;
/** How many messages one turn reads; the others wait for the next turn. */
export const MESSAGES_PER_TURN_MAX = 100;
/** After this time a turn begins no further message. */
const TURN_MESSAGES_MS = 40_000;
/** A mailbox that is new, or has new UIDs, is read from so many days before it was last read, or saved. */
export const LOOK_BACK_DAYS = 7;
/** How many UIDs one search covers, and how many searches one turn makes. */
export const SEARCH_UIDS_MAX = 100_000;
export const SEARCHES_PER_TURN_MAX = 50;
/** A message at which so many turns have failed is left out. */
export const STUCK_TURNS_MAX = 5;
/** How long a mailbox that fails waits at most. */
export const FAILED_SECONDS_MAX = 3_600;

const MS_PER_SECOND = 1_000;
const DAY_MS = 86_400_000;

/** How far a turn has come. It grows while the turn runs, so a turn that fails keeps what it has done. */
export type Progress = {
  uidValidity: number | null;
  /** Every message up to this UID is done. */
  readUid: number;
  /** The message that is being read. */
  atUid: number | null;
  isCaughtUp: boolean;
  readCount: number;
  usedCount: number;
};

export const beginProgress = ({ uid_validity, read_uid }: MailboxRow): Progress => ({
  uidValidity: uid_validity,
  readUid: read_uid,
  atUid: null,
  isCaughtUp: false,
  readCount: 0,
  usedCount: 0,
});

/** Takes the effect of one message. Returns whether Trunkline has used the message and may remove it. */
export type TakeMessage = (raw: Buffer) => Promise<boolean>;

/** Searches on from where the mailbox is read, until messages are found or the searches of a turn are used up. */
const findUnread = async (
  session: MailboxSession,
  progress: Progress,
  since: Date,
): Promise<readonly number[]> => {
  const last = session.uidNext - 1;
  for (
    let searches = 0;
    searches < SEARCHES_PER_TURN_MAX && progress.readUid < last;
    searches += 1
  ) {
    const from = progress.readUid + 1;
    const to = Math.min(last, progress.readUid + SEARCH_UIDS_MAX);
    const uids = await session.search({ from, to }, since);
    if (uids.length > 0) return uids;
    progress.readUid = to;
  }
  return [];
};

const readOne = async (
  session: MailboxSession,
  { uid, progress, take }: { uid: number; progress: Progress; take: TakeMessage },
): Promise<void> => {
  const raw = await session.fetch(uid);
  const isUsed = raw !== null && (await take(raw));
  progress.readCount += 1;
  if (!isUsed) return;
  // The effect is committed before the message is marked, moved or deleted. A crash in between repeats both.
  await session.finish([uid]);
  progress.usedCount += 1;
};

/**
 * Reads the messages of one turn, in the order in which they arrived. A UIDVALIDITY that changed begins anew (RFC 9051
 * §2.3.1.1): messages that were read before have no effect again.
 */
export const readTurn = async (
  session: MailboxSession,
  row: MailboxRow,
  { progress, take }: { progress: Progress; take: TakeMessage },
): Promise<void> => {
  if (progress.uidValidity !== session.uidValidity) {
    progress.uidValidity = session.uidValidity;
    progress.readUid = 0;
  }
  const since = new Date((row.caught_up_at ?? row.saved_at).getTime() - LOOK_BACK_DAYS * DAY_MS);
  const endsAt = performance.now() + TURN_MESSAGES_MS;
  const uids = await findUnread(session, progress, since);
  for (const uid of uids.slice(0, MESSAGES_PER_TURN_MAX)) {
    if (performance.now() >= endsAt) return;
    progress.atUid = uid;
    const isLeftOut = uid === row.stuck_uid && row.stuck_count >= STUCK_TURNS_MAX;
    if (!isLeftOut) await readOne(session, { uid, progress, take });
    progress.readUid = uid;
    progress.atUid = null;
  }
  progress.isCaughtUp =
    uids.length <= MESSAGES_PER_TURN_MAX &&
    (uids.length > 0 || progress.readUid >= session.uidNext - 1);
};

/**
 * What a turn came to. `interrupted`: an error of Trunkline, which says nothing of the mailbox. `stopped`: the process
 * ends, and another one goes on.
 */
export type TurnResult =
  | { kind: 'read' }
  | { kind: 'failed'; failure: MailboxFailure }
  | { kind: 'interrupted' }
  | { kind: 'stopped' };

const stuckAfter = (row: MailboxRow, { atUid }: Progress) => {
  if (atUid === null) return { stuck_uid: row.stuck_uid, stuck_count: row.stuck_count };
  return { stuck_uid: atUid, stuck_count: atUid === row.stuck_uid ? row.stuck_count + 1 : 1 };
};

/** Returns how long a mailbox waits after so many failures in a row. Half of it is jitter. */
export const waitAfterFailures = (failures: number, random = Math.random()): number => {
  const doubled = READ_EVERY_SECONDS * 2 ** Math.min(failures, 10);
  return Math.min(FAILED_SECONDS_MAX, doubled) * (0.5 + random / 2);
};

const after = (now: Date, seconds: number): Date =>
  new Date(now.getTime() + seconds * MS_PER_SECOND);

/** Returns the state of a mailbox after a turn: pure. A refused login stops it until a person changes something. */
export const stateAfter = (
  row: MailboxRow,
  { progress, result, now }: { progress: Progress; result: TurnResult; now: Date },
): ReadState => {
  const read = {
    uid_validity: progress.uidValidity,
    read_uid: progress.readUid,
    message_count: row.message_count + progress.readCount,
    report_count: row.report_count + progress.usedCount,
  };
  if (result.kind === 'read')
    return {
      ...read,
      status: 'active',
      next_read_at: progress.isCaughtUp ? after(now, READ_EVERY_SECONDS) : now,
      read_at: now,
      caught_up_at: progress.isCaughtUp ? now : row.caught_up_at,
      stuck_uid: null,
      stuck_count: 0,
      failure: null,
      failed_at: null,
      failure_count: 0,
    };
  if (result.kind === 'stopped') {
    const { status, read_at, caught_up_at, stuck_uid, stuck_count } = row;
    const { failure, failed_at, failure_count } = row;
    const kept = { status, read_at, caught_up_at, stuck_uid, stuck_count };
    return { ...read, ...kept, failure, failed_at, failure_count, next_read_at: now };
  }
  const isRefused = result.kind === 'failed' && result.failure === 'bounce_mailbox_login_refused';
  const failure_count = row.failure_count + 1;
  return {
    ...read,
    ...stuckAfter(row, progress),
    status: isRefused ? 'stopped' : 'active',
    next_read_at: after(now, waitAfterFailures(row.failure_count)),
    read_at: row.read_at,
    caught_up_at: row.caught_up_at,
    failure: result.kind === 'failed' ? result.failure : row.failure,
    failed_at: result.kind === 'failed' ? now : row.failed_at,
    failure_count,
  };
};
