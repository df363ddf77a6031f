import { pino } from 'pino';
import type { Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/** JSON lines on stdout. Callers log ids, counts and names of reasons, never bodies or addresses. */
export const openLog = (level: string): Logger =>
  pino({ level, base: { service: 'trunkline' }, timestamp: pino.stdTimeFunctions.isoTime });
