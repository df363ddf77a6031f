import { warn } from './config.ts';
import type { Settings } from './config.ts';
import { openIdentity } from './identity.ts';
import { openQueue } from './queue.ts';
import { openSender } from './sender.ts';
import type { Sender } from './sender.ts';
import { openStore } from './store.ts';

/** Keys of one origin keep apart what they store. */
const KEY_CHARS_STORED = 12;

export type Visitor = Pick<Sender, 'flush' | 'resume' | 'leave' | 'stop'> & {
  track: (event: string, properties?: object) => void;
  identify: (externalId: string, traits?: object) => void;
  /** Sees to what earlier pages have left. */
  begin: () => void;
  /** The next event is that of somebody else. */
  reset: () => void;
  /** Removes all that is stored on the device, also what was not sent yet. */
  forget: () => void;
};

/** Who is there, and what they did: kept on the device until the API has it. */
export const openVisitor = (settings: Settings): Visitor => {
  const store = openStore(`trunkline.${settings.apiKey.slice(-KEY_CHARS_STORED)}.`);
  const identity = openIdentity(store);
  const queue = openQueue(store);
  const { added, ...sender } = openSender(settings, store, queue);

  /** What is not sent as it is here: `request.ts` tells the two by how they begin, and dates them anew. */
  const add = (what: object): void => {
    const occurred_at = new Date().toISOString();
    try {
      queue.add((message_id) => ({ ...what, occurred_at, message_id }));
      added();
    } catch (error) {
      warn('not captured:', error);
    }
  };
  return {
    ...sender,
    track: (event, properties) => {
      const { anonymous_id, external_id } = identity.read();
      add({ event, external_id, anonymous_id, properties: properties ?? undefined });
    },
    identify: (externalId, traits) => {
      const { anonymous_id, external_id } = identity.identify(externalId);
      add({ external_id, anonymous_id, traits: traits ?? undefined });
      void sender.flush();
    },
    begin: () => {
      if (queue.list().length > 0) added();
    },
    reset: identity.reset,
    forget: () => {
      queue.remove(queue.list());
      for (const name of store.names()) store.remove(name);
    },
  };
};
