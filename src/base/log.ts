import { pino } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import { codeOf, listCauses } from './causes.ts';

export type Logger = PinoLogger;

/** Postgres quotes values in the messages of its classes 22 (data exceptions) and 23 (constraints). */
const QUOTES_VALUES = /^2[23]/;

/** What of an error may be logged: where and what kind, never the values or rows that it carries. */
export const toLogged = (error: unknown): object => {
  const chain = listCauses(error);
  if (chain.length === 0) return { type: typeof error };
  const isQuoting = chain.some((one) => QUOTES_VALUES.test(codeOf(one) ?? ''));
  return {
    type: chain[0]?.name,
    code: chain.map(codeOf).find((code) => code !== undefined),
    message: isQuoting ? undefined : chain.map(({ message }) => message).join(': '),
    at: chain[0]?.stack?.split('\n').filter((line) => line.startsWith('    at ')),
  };
};

/** Each line is written as it comes, and `flush` waits for them: without a least length it would not. */
const openStdout = (): DestinationStream => pino.destination({ dest: 1, minLength: 1 });

/** JSON lines on stdout. Callers log ids, counts and names of reasons, never bodies or addresses. */
export const openLog = (level: string, to: DestinationStream = openStdout()): Logger =>
  pino(
    {
      level,
      base: { service: 'trunkline' },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: toLogged },
    },
    to,
  );

/** How long whoever ends waits for the reader of their log. */
const FLUSH_MS = 1_000;

/**
 * Ends the process once its lines are written, or nobody reads them any more. What is left at an exit is written to
 * whoever has gone again and again, for ever (https://github.com/pinojs/sonic-boom, `flushSync`).
 */
export const exitFlushed = (log: Logger, code: number): void => {
  setTimeout(() => process.exit(code), FLUSH_MS);
  log.flush(() => process.exit(code));
};
