import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { beat, countAlive, forgetSilent, signOff } from './queries.ts';

export const BEAT_EVERY_MS = 2_000;
/** A process that was silent for longer no longer counts: three beats and a little. */
export const ALIVE_SECONDS = 7;
const FORGET_AFTER_SECONDS = 3_600;

export type Presence = { stop: () => Promise<void> };

/**
 * Says every two seconds that this api process lives, and tells how many do. While the database
 * cannot be asked, the last number holds. One row per process and beat, nothing per request.
 */
export const startPresence = async (
  { db, log }: Pick<Deps, 'db' | 'log'>,
  onCount: (processes: number) => void,
): Promise<Presence> => {
  const processId = newId();
  const look = async (): Promise<void> => {
    try {
      await beat(db, processId);
      onCount((await countAlive(db, ALIVE_SECONDS)).count);
    } catch (error) {
      log.warn({ err: error }, 'presence not told; limits are shared as before');
    }
  };
  const forget = async (): Promise<void> => {
    await forgetSilent(db, FORGET_AFTER_SECONDS).catch((error: unknown) =>
      log.warn({ err: error }, 'silent processes not forgotten'),
    );
  };
  let looking = forget().then(look);
  await looking;
  const timer = setInterval(() => {
    looking = looking.then(look);
  }, BEAT_EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await looking;
      try {
        await signOff(db, processId);
      } catch (error) {
        log.warn({ err: error }, 'not signed off; silence will say it');
      }
    },
  };
};
