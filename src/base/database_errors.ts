import { BackendTerminatedError, ConnectionError, StatementTimeoutError } from 'slonik';
import { hasCode, listCauses } from './causes.ts';
import { Refusal } from './refusal.ts';

/** A statement, a lock or an idle transaction took longer than it may: Postgres has undone the transaction. */
const TIMEOUT_CODES = /^(?:57014|55P03|25P03)$/;
const DOWN_CODES = /^(?:08\w{3}|53\w{3}|57P0\d|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND)$/;
/** Errors after which Postgres has ended the whole transaction, which is then run again from its start. */
const RESTARTING_CODES = /^(?:40001|40P01)$/;

const isConnectionLost = (error: unknown): boolean =>
  hasCode(error, DOWN_CODES) ||
  listCauses(error).some(
    (cause) =>
      cause instanceof ConnectionError ||
      cause instanceof BackendTerminatedError ||
      /Connection terminated|Client has encountered a connection error/.test(cause.message),
  );

/**
 * Whether the database itself failed (gone, restarting, out of connections or disk, too slow), not a statement. After a
 * lost connection the outcome of a commit is unknown, so nothing may be taken as stored.
 */
export const isDatabaseDown = (error: unknown): boolean =>
  isConnectionLost(error) || hasCode(error, TIMEOUT_CODES);

/** Whether a statement waited for a lock for longer than it may. */
export const isLockTimeout = (error: unknown): error is Error => hasCode(error, /^55P03$/);

/** Whether Postgres asks for the whole transaction again, because of another one. */
export const isRestarting = (error: unknown): boolean => hasCode(error, RESTARTING_CODES);

/**
 * Whether a statement took longer than it may. The statement or the database may be the cause. A statement that an
 * operator cancelled, or that ended with its connection, is neither.
 */
export const isTimeout = (error: unknown): boolean => error instanceof StatementTimeoutError;

const RETRY_AFTER_SECONDS = 2;

/** Returns how the API refuses a request that failed because of the database; null for any other error. */
export const toDatabaseRefusal = (cause: unknown): Refusal | null => {
  const retry = { retryAfterSeconds: RETRY_AFTER_SECONDS, cause };
  if (isConnectionLost(cause)) return new Refusal('unavailable', retry);
  return hasCode(cause, TIMEOUT_CODES) ? new Refusal('database_timeout', retry) : null;
};
