import { useEffect, useEffectEvent, useState } from 'react';

/** What a stream tells, as the API's client has it. */
export type Handlers<T> = {
  onData: (told: T) => void;
  onError: () => void;
  onStopped: () => void;
  onConnectionStateChange: (state: { state: string; error: unknown }) => void;
};
type Follow<T> = (handlers: Handlers<T>) => { unsubscribe: () => void };

const AGAIN_AFTER_MS = 30_000;

const useIsShown = (): boolean => {
  const [isShown, setIsShown] = useState(!document.hidden);
  useEffect(() => {
    const look = (): void => setIsShown(!document.hidden);
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return isShown;
};

/**
 * Looks on at something for as long as the page is there and is looked at: `what` names it. Answers whether the
 * stream tells what happens; while it does not, the page has to ask.
 */
export const useLive = <T>(
  what: string | null,
  follow: Follow<T>,
  onTold: (told: T) => void | Promise<void>,
): boolean => {
  const isShown = useIsShown();
  const [told, setTold] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  const start = useEffectEvent(follow);
  const tell = useEffectEvent(onTold);

  useEffect(() => {
    if (what === null || !isShown) return undefined;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const lose = (): void => setTold(null);
    const giveUp = (): void => {
      if (isOver) return;
      lose();
      timer ??= setTimeout(() => setAttempt((count) => count + 1), AGAIN_AFTER_MS);
    };
    const stream = start({
      onData: (data) => {
        setTold(what);
        void tell(data);
      },
      onError: giveUp,
      onStopped: giveUp,
      // The browser comes again by itself; until it is there, nothing is told.
      onConnectionStateChange: ({ error }) => error != null && lose(),
    });
    return () => {
      isOver = true;
      clearTimeout(timer);
      stream.unsubscribe();
      lose();
    };
  }, [what, isShown, attempt]);

  return told !== null && told === what;
};
