import { keepBrowserSdk } from './browser_sdk_build.ts';
import { keepConsole } from './console_build.ts';
import type { Home } from './home.ts';
import { openInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import { startService } from './start_service.ts';
import type { Service, Waiting } from './start_service.ts';

const RESTART_AFTER_MS = 1_000;
/** How often it is seen to that Postgres is there: a service that lost it waits for it. */
const REVIVE_EVERY_MS = 1_000;

export type Everything = Pick<Installation, 'facts' | 'curl' | 'held'> & {
  stop: () => Promise<void>;
};

/** How a service ended: by a signal, or with an exit code, and what it said last. */
export const sayEnd = (
  code: number | null,
  signal: NodeJS.Signals | null,
  lastError: string | null,
): string => {
  const how = signal === null ? `exit code ${code}` : `killed by ${signal}`;
  return `the service stopped by itself (${how}; ${lastError ?? 'it did not say why'})`;
};

/** What a service that stops waits for, and what comes of it. */
export const sayWaiting = ({ hand_offs, seconds_left }: Waiting): string =>
  (hand_offs === 1
    ? 'waiting for 1 mail, for which its provider has not answered yet'
    : `waiting for ${hand_offs} mails, for which their provider has not answered yet`) +
  `, ${seconds_left} s at most: what has no answer then ends as unknown`;

/** Keeps a service running: it ends by itself only when it lost something it cannot work without. */
const keepRunning = (
  first: Service,
  { start, revive }: { start: () => Promise<Service>; revive: () => Promise<void> },
  say: (line: string) => void,
) => {
  let service = first;
  let isStopping = false;
  let restart: NodeJS.Timeout | undefined;
  const watch = (): void => {
    service.child.once('exit', (code, signal) => {
      if (isStopping) return;
      say(`${sayEnd(code, signal, service.lastError())}; starting it again`);
      restart = setTimeout(() => void again(), RESTART_AFTER_MS);
    });
  };
  const again = async (): Promise<void> => {
    try {
      await revive();
      service = await start();
      watch();
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
      if (!isStopping) restart = setTimeout(() => void again(), RESTART_AFTER_MS);
    }
  };
  watch();
  // What cannot be brought back is said when the service has ended.
  const reviving = setInterval(() => void revive().catch(() => {}), REVIVE_EVERY_MS);
  return async (): Promise<void> => {
    isStopping = true;
    clearInterval(reviving);
    clearTimeout(restart);
    await service.stop();
  };
};

/** Starts a local installation and its service; stops them in the opposite order. */
export const startEverything = async (
  home: Home,
  say: (line: string) => void,
  isWatching = false,
): Promise<Everything> => {
  const built = Promise.all([keepConsole(), keepBrowserSdk()]);
  built.catch(() => {}); // Looked at below, when there is something to close.
  const installation = await openInstallation(home, say);
  const onWaiting = (waiting: Waiting): void => say(sayWaiting(waiting));
  const start = (): Promise<Service> =>
    startService({ env: installation.env, isWatching, onWaiting });
  try {
    await built;
    const stopService = keepRunning(await start(), { start, revive: installation.revive }, say);
    const stop = async (): Promise<void> => {
      await stopService();
      await installation.close();
    };
    const { facts, curl, held } = installation;
    return { facts, curl, held, stop };
  } catch (error) {
    await installation.close();
    throw error;
  }
};
