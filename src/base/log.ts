import { pino } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/** Postgres quotes the value in the messages of its class 22, data exceptions. */
const QUOTES_VALUES = /^22/;

/** What of an error may be logged: where and what kind, never the values or rows that it carries. */
export const toLogged = (error: unknown): object => {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code } = error as { code?: unknown };
  const sqlState = typeof code === 'string' ? code : undefined;
  return {
    type: error.name,
    code: sqlState,
    message: QUOTES_VALUES.test(sqlState ?? '') ? undefined : error.message,
    at: error.stack?.split('\n').filter((line) => line.startsWith('    at ')),
    cause: error.cause === undefined ? undefined : toLogged(error.cause),
  };
};

/** JSON lines on stdout. Callers log ids, counts and names of reasons, never bodies or addresses. */
export const openLog = (level: string, to: DestinationStream = pino.destination(1)): Logger =>
  pino(
    {
      level,
      base: { service: 'trunkline' },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: toLogged },
    },
    to,
  );
