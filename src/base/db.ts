import {
  createPool,
  createTypeParserPreset,
  sql,
  type DatabasePool,
  type DatabasePoolConnection,
  type DatabaseTransactionConnection,
  type Interceptor,
} from 'slonik';
import { isDatabaseDown, isLockTimeout, isRestarting, isTimeout } from './database_errors.ts';
import { noteChange, noteInstallationChange } from './audit.ts';
import type { Audit } from './audit.ts';
import { translateRefusals, validateRows } from './interceptors.ts';
import { makePrepareOften } from './prepare_often.ts';
import { Refusal } from './refusal.ts';
import type { Keys } from './keys.ts';
import { inTurnOf } from './session_turns.ts';
import type { Turns } from './session_turns.ts';

export { sql };
export type Tx = DatabaseTransactionConnection;

/** The runtime role's pool. Tenant tables answer it nothing outside `inProject`. */
export type Db = DatabasePool;

/**
 * One project, for the length of one transaction. The only way to a tenant's rows:
 * row-level security answers nothing to a connection that was not opened like this.
 */
export type Scope = {
  readonly projectId: string;
  readonly keys: Keys;
  readonly tx: DatabaseTransactionConnection;
};

export const POOL_CONNECTIONS_MAX = 10;
const STATEMENT_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;

const toSafeInteger = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 out of the safe range: ${text}`);
  return value;
};

const typeParsers = [
  ...createTypeParserPreset().filter(({ name }) => name !== 'int8' && name !== 'timestamptz'),
  { name: 'int8', parse: toSafeInteger },
  { name: 'timestamptz', parse: (text: string) => new Date(text) },
];

type Kind = {
  maxPoolSize: number;
  interceptors: Interceptor[];
  statementTimeout: number | 'DISABLE_TIMEOUT';
  idleInTransactionSessionTimeout: number | 'DISABLE_TIMEOUT';
};

const open = (url: string, given: Kind): Promise<Db> =>
  createPool(url, {
    ...given,
    idleTimeout: IDLE_TIMEOUT_MS,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    // The default sends DISCARD ALL after each query. No session state is ever set, so nothing needs discarding.
    resetConnection: async () => {},
    typeParsers,
  });

/** Opens the pool, or throws when the server cannot be reached. */
export const openDb = (
  url: string,
  connectionsMax = POOL_CONNECTIONS_MAX,
  interceptors: Interceptor[] = [],
): Promise<Db> =>
  open(url, {
    maxPoolSize: connectionsMax,
    statementTimeout: STATEMENT_TIMEOUT_MS,
    idleInTransactionSessionTimeout: IDLE_TIMEOUT_MS,
    interceptors: [...interceptors, validateRows, translateRefusals, makePrepareOften()],
  });

/**
 * The same through a transaction-pooling proxy, which gives each transaction whatever session is free: no statement
 * has a name that a session would have to remember, and no session is asked for time-outs of its own. Those of the
 * role hold (src/runtime/migrate.ts).
 */
export const openPooledDb = (url: string): Promise<Db> =>
  open(url, {
    maxPoolSize: POOL_CONNECTIONS_MAX,
    statementTimeout: 'DISABLE_TIMEOUT',
    idleInTransactionSessionTimeout: 'DISABLE_TIMEOUT',
    interceptors: [validateRows, translateRefusals],
  });

const ASKS = [
  'any',
  'anyFirst',
  'exists',
  'many',
  'manyFirst',
  'maybeOne',
  'maybeOneFirst',
  'one',
  'oneFirst',
  'query',
  'record',
  'stream',
  'transaction',
] as const satisfies readonly (keyof Tx)[];
const isOver = (): Promise<never> => Promise.reject(new Error('This transaction is over.'));
const OVER = Object.fromEntries(ASKS.map((name) => [name, isOver]));

/** Work that can ask its transaction for nothing once it has ended: the session may be somebody else's by then. */
const untilOver =
  <T>(work: (tx: Tx) => Promise<T>) =>
  async (tx: Tx): Promise<T> => {
    try {
      return await work(tx);
    } finally {
      Object.assign(tx, OVER);
    }
  };

/**
 * Lends a session, and takes it back from whoever is refused. The pool itself closes the session of whatever throws,
 * and the next one, in which every function is compiled and planned anew, costs many times what a refusal does.
 * What else throws may have left anything behind; so its session is closed.
 */
export const inSession = async <T>(
  db: Db,
  work: (session: DatabasePoolConnection) => Promise<T>,
): Promise<T> => {
  const outcome = await db.connect(async (session) => {
    try {
      return { kind: 'done' as const, value: await work(session) };
    } catch (error) {
      if (error instanceof Refusal) return { kind: 'refused' as const, error };
      throw error;
    }
  });
  if (outcome.kind === 'refused') throw outcome.error;
  return outcome.value;
};

// A refusal is what comes out of a transaction only if that was rolled back: else the reason why not is.
const inTransaction = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  inSession(db, (session) => session.transaction(untilOver(work)));

/** Where something is asked, and by whom: `turns` where that is from outside, `audit` where it may change something. */
type Where = { db: Db; keys: Keys; audit?: Audit; turns?: Turns };

/**
 * Runs work for one project in one transaction. It may run again after a deadlock, so it must be repeatable. What it
 * changes for a call that is audited is in the audit log with it.
 */
export const inProject = <T>(
  { db, keys, audit, turns }: Where,
  projectId: string,
  work: (scope: Scope) => Promise<T>,
): Promise<T> =>
  inTurnOf(turns, projectId, () =>
    inTransaction(db, async (tx) => {
      await tx.query(sql.unsafe`select base.use_project(${projectId})`);
      const answer = await work({ projectId, keys, tx });
      if (audit) await noteChange(tx, projectId, audit);
      return answer;
    }),
  );

/** Whose turn it is of what belongs to no project: they share one part. */
const INSTALLATION = 'installation';

/** The same for what belongs to no project: people, their passwords, who asks for access. */
export const inInstallation = <T>(
  { db, audit, turns }: Omit<Where, 'keys'>,
  work: (tx: DatabaseTransactionConnection) => Promise<T>,
): Promise<T> =>
  inTurnOf(turns, INSTALLATION, () =>
    inTransaction(db, async (tx) => {
      const answer = await work(tx);
      if (audit) await noteInstallationChange(tx, audit);
      return answer;
    }),
  );

/**
 * Work that is undone alone when it fails. Throws what concerns the whole transaction; also that a statement took
 * too long, unless whoever asks can put off what is slow.
 */
export const attempt = async <T>(
  scope: Scope,
  work: (scope: Scope) => Promise<T>,
  { mayTimeOut = false } = {},
): Promise<{ kind: 'done'; value: T } | { kind: 'failed'; error: unknown }> => {
  try {
    const value = await scope.tx.transaction(untilOver((tx) => work({ ...scope, tx })));
    return { kind: 'done', value };
  } catch (error) {
    const isOwn = mayTimeOut && isTimeout(error);
    if (!isOwn && (isDatabaseDown(error) || isRestarting(error))) throw error;
    return { kind: 'failed', error };
  }
};

/**
 * Does work that is undone alone where a statement of it waits for a lock for longer than `waitMs`. Returns whether it
 * was done.
 */
export const unlessLocked = async (
  scope: Scope,
  waitMs: number,
  work: (scope: Scope) => Promise<unknown>,
): Promise<boolean> => {
  const waitAtMost = (tx: Tx, ms: number) => {
    const text = String(ms);
    return tx.query(sql.unsafe`select set_config('lock_timeout', ${text}, true)`);
  };
  try {
    await scope.tx.transaction(
      untilOver(async (tx) => {
        await waitAtMost(tx, waitMs);
        await work({ ...scope, tx });
        await waitAtMost(tx, 0);
      }),
    );
    return true;
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
};
