import type { Autocapture } from './config.ts';
import { describeClick, describeSubmit, routeOf, safeUrl, short } from './elements.ts';

const MS_PER_SECOND = 1_000;

export type Capture = {
  /** Says that a page is viewed. */
  page: () => void;
  stop: () => void;
};

type Occasions = {
  track: (event: string, properties: Record<string, unknown>) => void;
  /** The page may be gone at once. */
  onLeave: () => void;
  /** Somebody looks at it again, or the network is back. */
  onReturn: () => void;
};

/** What a page is told apart by. */
const addressOf = (): string => location.pathname + location.search + routeOf(location.hash);

const pathOf = (): string | undefined => short(location.pathname + routeOf(location.hash));

const describePage = () => ({
  url: safeUrl(location.href),
  path: pathOf(),
  title: short(document.title),
  referrer: document.referrer ? safeUrl(document.referrer) : undefined,
});

/** Calls back after every change of the history; answers how to stop. */
const followHistory = (onChange: () => void): (() => void) => {
  const undo = (['pushState', 'replaceState'] as const).map((name) => {
    const original = history[name];
    const followed: History['pushState'] = function (this: History, ...given) {
      original.apply(this, given);
      onChange();
    };
    history[name] = followed;
    return () => {
      // Somebody else may follow it, too.
      if (history[name] === followed) history[name] = original;
    };
  });
  return () => undo.forEach((stop) => stop());
};

type On = (target: EventTarget, type: string, handle: (event: Event) => void) => void;

/** Listens without ever being in the way of the page. */
const listenUntil =
  (signal: AbortSignal): On =>
  (target, type, handle) =>
    target.addEventListener(
      type,
      (event) => {
        try {
          handle(event);
        } catch {
          // Whatever a page is made of: it goes on.
        }
      },
      { capture: true, passive: true, signal },
    );

/** Tells of pages as they are viewed and left. */
const followPages = (
  { pageviews, pageLeave }: Autocapture,
  { track }: Occasions,
  { on, signal }: { on: On; signal: AbortSignal },
): (() => void) => {
  let viewed: string | undefined;
  let viewedAt = Date.now();
  let looking: ReturnType<typeof setTimeout> | undefined;

  const page = (): void => {
    viewed = addressOf();
    viewedAt = Date.now();
    track('page_viewed', describePage());
  };
  const look = (): void => {
    clearTimeout(looking);
    looking = undefined;
    if (viewed !== addressOf() && !signal.aborted) page();
  };
  /** Once for what a router does in one go, and when the page has got its title. */
  const lookSoon = (): void => {
    looking ??= setTimeout(look);
  };
  if (pageviews) {
    signal.addEventListener('abort', followHistory(lookSoon));
    on(window, 'popstate', lookSoon);
    on(window, 'hashchange', lookSoon);
    // Out of the browser's cache, with all that was running.
    on(window, 'pageshow', (event) => {
      if ((event as PageTransitionEvent).persisted) page();
    });
    // A page that is made before anybody asks for it is viewed when somebody does.
    if ((document as { prerendering?: boolean }).prerendering)
      on(document, 'prerenderingchange', page);
    else page();
  }
  on(window, 'pagehide', () => {
    if (looking !== undefined) look();
    const seconds = Math.round((Date.now() - viewedAt) / MS_PER_SECOND);
    if (pageLeave) track('page_left', { ...describePage(), seconds });
  });
  return page;
};

/** Listens to what visitors do. */
export const startCapture = (autocapture: Autocapture, occasions: Occasions): Capture => {
  const { track, onLeave, onReturn } = occasions;
  const listening = new AbortController();
  const { signal } = listening;
  const on = listenUntil(signal);
  const page = followPages(autocapture, occasions, { on, signal });

  on(window, 'pagehide', onLeave);
  on(document, 'visibilitychange', () => (document.hidden ? onLeave() : onReturn()));
  on(window, 'online', onReturn);
  const captured = [
    [autocapture.clicks, 'click', 'element_clicked', describeClick],
    [autocapture.forms, 'submit', 'form_submitted', describeSubmit],
  ] as const;
  for (const [isWanted, type, name, describe] of captured) {
    if (!isWanted) continue;
    on(document, type, (event) => {
      const properties = describe(event);
      if (properties) track(name, { ...properties, path: pathOf() });
    });
  }
  return { page, stop: () => listening.abort() };
};
