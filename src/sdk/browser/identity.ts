import type { Store } from './store.ts';

export type Who = { anonymous_id: string; external_id?: string | undefined };

export type Identity = {
  /** Who the visitor is just now, also if another tab has said so. */
  read: () => Who;
  identify: (externalId: string) => Who;
  reset: () => void;
};

const NAME = 'who';
const ID_BYTES = 16;

/** 128 random bits, in hex. Pages without TLS have no `crypto.randomUUID`. */
export const randomId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(ID_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');

export const openIdentity = (store: Store): Identity => {
  const write = (who: Who): Who => {
    store.set(NAME, JSON.stringify(who));
    return who;
  };
  const read = (): Who => {
    try {
      const { anonymous_id, external_id } = JSON.parse(store.get(NAME) ?? '') as Who;
      if (anonymous_id) return { anonymous_id, external_id };
    } catch {
      // Nobody yet, or nothing that we wrote.
    }
    return write({ anonymous_id: randomId() });
  };
  return {
    read,
    identify: (externalId) => write({ anonymous_id: read().anonymous_id, external_id: externalId }),
    reset: () => store.remove(NAME),
  };
};
