import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import { nowInMs } from '../../base/now_in_ms.ts';
import { AFTER_READ, MAILBOX_SECURE } from './schema.ts';

const Mailbox = z.strictObject({
  provider_id: z.uuid(),
  host: z.string(),
  port: z.int(),
  secure: z.enum(MAILBOX_SECURE),
  username: z.string(),
  key_version: z.int(),
  secret: z.instanceof(Buffer),
  folder: z.string(),
  bounce_address: z.string().nullable(),
  verp: z.boolean(),
  after_read: z.enum(AFTER_READ),
  move_to: z.string().nullable(),
  saved_at: z.date(),
  revision: z.int(),
  status: z.enum(['active', 'stopped']),
  next_read_at: z.date(),
  read_at: z.date().nullable(),
  caught_up_at: z.date().nullable(),
  uid_validity: z.int().nullable(),
  read_uid: z.int(),
  stuck_uid: z.int().nullable(),
  stuck_count: z.int(),
  failure: z.string().nullable(),
  failed_at: z.date().nullable(),
  failure_count: z.int(),
  message_count: z.int(),
  report_count: z.int(),
});
export type MailboxRow = z.output<typeof Mailbox>;

const columns = sql.fragment`provider_id, host, port, secure, username, key_version, secret, folder, bounce_address,
  verp, after_read, move_to, saved_at, revision, status, next_read_at, read_at, caught_up_at, uid_validity, read_uid,
  stuck_uid, stuck_count, failure, failed_at, failure_count, message_count, report_count`;

export const findMailbox = ({ tx, projectId }: Scope, providerId: string) =>
  tx.maybeOne(sql.type(Mailbox)`
    select ${columns} from providers.bounce_mailboxes
    where project_id = ${projectId} and provider_id = ${providerId}
  `);

export type SavedMailbox = Pick<
  MailboxRow,
  | 'provider_id'
  | 'host'
  | 'port'
  | 'secure'
  | 'username'
  | 'key_version'
  | 'secret'
  | 'folder'
  | 'bounce_address'
  | 'verp'
  | 'after_read'
  | 'move_to'
>;

/**
 * Stores the settings of a mailbox and makes it due. How far it is read stays while it is the same folder of the same
 * account; otherwise it is read from the start.
 */
export const upsertMailbox = ({ tx, projectId }: Scope, row: SavedMailbox) =>
  tx.query(sql.unsafe`
    insert into providers.bounce_mailboxes as mailbox (project_id, provider_id, host, port, secure, username,
      key_version, secret, folder, bounce_address, verp, after_read, move_to, saved_at, next_read_at)
    values (${projectId}, ${row.provider_id}, ${row.host}, ${row.port}, ${row.secure}, ${row.username},
      ${row.key_version}, ${sql.binary(row.secret)}, ${row.folder}, ${row.bounce_address}, ${row.verp},
      ${row.after_read}, ${row.move_to}, now(), now())
    on conflict on constraint bounce_mailboxes_pkey do update
    set host = excluded.host, port = excluded.port, secure = excluded.secure, username = excluded.username,
      key_version = excluded.key_version, secret = excluded.secret, folder = excluded.folder,
      bounce_address = excluded.bounce_address, verp = excluded.verp, after_read = excluded.after_read,
      move_to = excluded.move_to, saved_at = excluded.saved_at, revision = mailbox.revision + 1, status = 'active',
      next_read_at = excluded.next_read_at, claim_id = null, failure = null, failed_at = null, failure_count = 0,
      stuck_uid = null, stuck_count = 0, message_count = 0, report_count = 0,
      uid_validity = case when (mailbox.host, mailbox.username, mailbox.folder)
        = (excluded.host, excluded.username, excluded.folder) then mailbox.uid_validity end,
      caught_up_at = case when (mailbox.host, mailbox.username, mailbox.folder)
        = (excluded.host, excluded.username, excluded.folder) then mailbox.caught_up_at end
  `);

export const deleteMailbox = ({ tx, projectId }: Scope, providerId: string) =>
  tx.query(sql.unsafe`
    delete from providers.bounce_mailboxes where project_id = ${projectId} and provider_id = ${providerId}
  `);

const Now = z.strictObject({ now: z.date() });

/** Returns the time of the transaction, by the database's clock. */
export const readNow = async ({ tx }: Scope): Promise<Date> =>
  (await tx.one(sql.type(Now)`select now() as now`)).now;

type Claim = { providerId: string; claimId: string; until: Date };

/** Claims a mailbox that is due until a moment; null where it is not due, or another process has claimed it. */
export const claimMailbox = (
  { tx, projectId }: Scope,
  { providerId, claimId, until }: Claim,
): Promise<MailboxRow | null> =>
  tx.maybeOne(sql.type(Mailbox)`
    update providers.bounce_mailboxes set claim_id = ${claimId}, next_read_at = ${sql.timestamp(until)}
    where project_id = ${projectId} and provider_id = ${providerId} and status = 'active' and next_read_at <= now()
    returning ${columns}
  `);

/** How far a mailbox is read, and when the next turn is. */
export type ReadState = Pick<
  MailboxRow,
  | 'status'
  | 'next_read_at'
  | 'read_at'
  | 'caught_up_at'
  | 'uid_validity'
  | 'read_uid'
  | 'stuck_uid'
  | 'stuck_count'
  | 'failure'
  | 'failed_at'
  | 'failure_count'
  | 'message_count'
  | 'report_count'
>;

const moment = (at: Date | null) => (at === null ? null : sql.timestamp(at));

/**
 * Writes what came of a turn and ends its claim. Returns false where the record was saved or claimed again since:
 * then it writes nothing.
 */
export const releaseMailbox = async (
  { tx, projectId }: Scope,
  { providerId, claimId }: Omit<Claim, 'until'>,
  state: ReadState,
): Promise<boolean> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update providers.bounce_mailboxes
    set claim_id = null, status = ${state.status}, next_read_at = ${sql.timestamp(state.next_read_at)},
      read_at = ${moment(state.read_at)}, caught_up_at = ${moment(state.caught_up_at)},
      uid_validity = ${state.uid_validity}, read_uid = ${state.read_uid}, stuck_uid = ${state.stuck_uid},
      stuck_count = ${state.stuck_count}, failure = ${state.failure}, failed_at = ${moment(state.failed_at)},
      failure_count = ${state.failure_count}, message_count = ${state.message_count},
      report_count = ${state.report_count}
    where project_id = ${projectId} and provider_id = ${providerId} and claim_id = ${claimId}
  `);
  return rowCount > 0;
};

type Tested = Pick<MailboxRow, 'provider_id' | 'revision'>;

/** Writes why a test of these very settings failed. */
export const writeTestFailed = (
  { tx, projectId }: Scope,
  { provider_id, revision }: Tested,
  failure: string,
) =>
  tx.query(sql.unsafe`
    update providers.bounce_mailboxes set failure = ${failure}, failed_at = now()
    where project_id = ${projectId} and provider_id = ${provider_id} and revision = ${revision}
  `);

/**
 * Writes that a test of these very settings passed: the mailbox is read again at once, unless it is being read. Returns
 * false where other settings were saved since.
 */
export const writeTestPassed = async (
  { tx, projectId }: Scope,
  { provider_id, revision }: Tested,
): Promise<boolean> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update providers.bounce_mailboxes set failure = null, failed_at = null, failure_count = 0, status = 'active'
    where project_id = ${projectId} and provider_id = ${provider_id} and revision = ${revision}
  `);
  await tx.query(sql.unsafe`
    update providers.bounce_mailboxes set next_read_at = ${nowInMs}
    where project_id = ${projectId} and provider_id = ${provider_id} and revision = ${revision} and claim_id is null
  `);
  return rowCount > 0;
};
