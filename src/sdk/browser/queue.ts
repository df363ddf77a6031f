import { warn } from './config.ts';
import { randomId } from './identity.ts';
import type { Store } from './store.ts';

const QUEUE_EVENTS_MAX = 1_000;
/** Browsers grant an origin some five million characters, which the page needs, too. */
const QUEUE_CHARS_MAX = 1_000_000;
/** No more than the API takes for one event. */
const ITEM_CHARS_MAX = 32 * 1024;

const PREFIX = 'q.';
const TIME_CHARS = 9;
const COUNT_CHARS = 5;
const BASE = 36;

/** When an item was made, by the clock of the page. */
export const timeOf = (id: string): number => parseInt(id.slice(0, TIME_CHARS), BASE);

type Items = {
  put: (id: string, text: string) => void;
  remove: (ids: readonly string[]) => void;
  get: (id: string) => string | undefined;
  /** All that waits on this device, oldest first, also what other tabs have left. */
  list: () => string[];
  size: () => number;
  isFull: () => boolean;
};

/** Items by id, each under a name of its own: tabs need not agree to add and to remove. */
const openItems = (store: Store): Items => {
  const items = new Map<string, string>();
  let chars = 0;
  const forget = (id: string): void => {
    chars -= items.get(id)?.length ?? 0;
    items.delete(id);
  };
  const know = (id: string, text: string): void => {
    forget(id);
    items.set(id, text);
    chars += text.length;
  };
  return {
    put: (id, text) => {
      know(id, text);
      store.set(PREFIX + id, text);
    },
    remove: (ids) => {
      for (const id of ids) {
        forget(id);
        store.remove(PREFIX + id);
      }
    },
    get: (id) => items.get(id),
    list: () => {
      const names = store.names().filter((name) => name.startsWith(PREFIX));
      const kept = new Set(names.map((name) => name.slice(PREFIX.length)));
      for (const id of items.keys()) if (!kept.has(id)) forget(id);
      for (const id of kept) {
        const text = items.has(id) ? null : store.get(PREFIX + id);
        if (text) know(id, text);
      }
      return [...items.keys()].sort();
    },
    size: () => items.size,
    isFull: () => items.size > QUEUE_EVENTS_MAX || chars > QUEUE_CHARS_MAX,
  };
};

export type Queue = Items & {
  /** Takes in what `make` makes for a new id. Throws when it is no JSON, or too large. */
  add: (make: (id: string) => object) => void;
  /** Whether this page made it. */
  isOwn: (id: string) => boolean;
};

/** What waits to be sent. An item's id is its message id, and its place in the order. */
export const openQueue = (store: Store): Queue => {
  const items = openItems(store);
  const page = randomId();
  let count = 0;
  let lastTime = 0;

  const newId = (): string => {
    lastTime = Math.max(lastTime, Date.now());
    count += 1;
    const [time, place] = [lastTime.toString(BASE), count.toString(BASE)];
    return time.padStart(TIME_CHARS, '0') + place.padStart(COUNT_CHARS, '0') + page;
  };
  /** Listed once for as many as are in it: a page may go on for long with a full queue. */
  let oldest: string[] = [];
  const dropOldest = (): void => {
    let dropped = 0;
    while (items.isFull()) {
      if (oldest.length === 0) oldest = items.list();
      const ids = oldest.splice(0, 1).filter(items.get);
      items.remove(ids);
      dropped += ids.length;
    }
    if (dropped) warn(`too much waits to be sent: dropped the oldest ${dropped}`);
  };
  return {
    ...items,
    add: (make) => {
      const id = newId();
      const text = JSON.stringify(make(id));
      if (text.length > ITEM_CHARS_MAX) throw new Error(`larger than ${ITEM_CHARS_MAX} bytes`);
      items.put(id, text);
      if (items.isFull()) dropOldest();
    },
    isOwn: (id) => id.endsWith(page),
  };
};
