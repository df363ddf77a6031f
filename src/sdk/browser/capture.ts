import type { Autocapture } from './config.ts';
import { describeClick, describeSubmit, routeOf, safeUrl, short } from './elements.ts';

const MS_PER_SECOND = 1_000;

export type Capture = {
  /** Says that a page is viewed. */
  page: () => void;
  stop: () => void;
};

type Track = (event: string, properties: Record<string, unknown>) => void;
type Occasions = {
  track: Track;
  /** The page may be gone at once. */
  onLeave: () => void;
  /** Somebody looks at it again, or the network is back. */
  onReturn: () => void;
};

/** What a page is told apart by. */
const address = (): string => location.pathname + location.search + routeOf(location.hash);

const pathOf = () => short(location.pathname + routeOf(location.hash));
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

/** Listens to what visitors do. */
export const startCapture = (
  { pageviews, clicks, forms, pageLeave }: Autocapture,
  { track, onLeave, onReturn }: Occasions,
): Capture => {
  const listening = new AbortController();
  const { signal } = listening;
  let viewed: string | undefined;
  let viewedAt = Date.now();
  let looking: ReturnType<typeof setTimeout> | undefined;

  const on = (target: EventTarget, type: string, handle: (event: Event) => void): void =>
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

  const page = (): void => {
    viewed = address();
    viewedAt = Date.now();
    track('page_viewed', describePage());
  };
  const look = (): void => {
    clearTimeout(looking);
    looking = undefined;
    if (viewed !== address()) page();
  };
  /** Once for what a router does in one go, and when the page has got its title. */
  const lookSoon = (): void => {
    if (!signal.aborted) looking ??= setTimeout(look);
  };

  on(window, 'pagehide', () => {
    if (looking !== undefined) look();
    const seconds = Math.round((Date.now() - viewedAt) / MS_PER_SECOND);
    if (pageLeave) track('page_left', { ...describePage(), seconds });
    onLeave();
  });
  on(document, 'visibilitychange', () => (document.hidden ? onLeave() : onReturn()));
  on(window, 'online', onReturn);
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
  const captured = [
    [clicks, 'click', 'element_clicked', describeClick],
    [forms, 'submit', 'form_submitted', describeSubmit],
  ] as const;
  for (const [isWanted, type, name, describe] of captured) {
    if (!isWanted) continue;
    on(document, type, (event) => {
      const properties = describe(event);
      if (properties) track(name, { ...properties, path: pathOf() });
    });
  }
  return {
    page,
    stop: () => {
      clearTimeout(looking);
      listening.abort();
    },
  };
};
