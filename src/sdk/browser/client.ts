import { startCapture } from './capture.ts';
import type { Capture } from './capture.ts';
import { warn } from './config.ts';
import type { Client, Settings } from './config.ts';
import { openIdentity } from './identity.ts';
import { openQueue } from './queue.ts';
import { openSender } from './sender.ts';
import { openStore } from './store.ts';

/** Keys of one origin keep apart what they store. */
const KEY_CHARS_SHOWN = 12;

const asksNotToBeTracked = (): boolean => {
  const { doNotTrack, globalPrivacyControl } = navigator as Navigator & {
    doNotTrack?: string;
    globalPrivacyControl?: boolean;
  };
  return doNotTrack === '1' || globalPrivacyControl === true;
};

/** One client of one key on one page. */
export const openClient = (settings: Settings, onDestroy: () => void): Client => {
  const store = openStore(`trunkline.${settings.apiKey.slice(-KEY_CHARS_SHOWN)}.`);
  const identity = openIdentity(store);
  const queue = openQueue(store);
  const sender = openSender(settings, store, queue);
  let capture: Capture | undefined;
  let isOn = false;
  let isDestroyed = false;

  const add = (make: (message_id: string, occurred_at: string) => object): void => {
    try {
      queue.add((id) => make(id, new Date().toISOString()));
      sender.added();
    } catch (error) {
      warn('not captured:', error);
    }
  };
  const track = (event: string, properties?: Record<string, unknown>): void => {
    if (!isOn) return;
    const { anonymous_id, external_id } = identity.read();
    add((message_id, occurred_at) => ({
      event,
      external_id,
      anonymous_id,
      properties: properties ?? undefined,
      occurred_at,
      message_id,
    }));
  };
  const consent = (isGiven: boolean): void => {
    if (isDestroyed || isGiven === isOn) return;
    isOn = isGiven;
    if (!isGiven) {
      capture?.stop();
      queue.remove(queue.list());
      for (const name of store.names()) store.remove(name);
      return;
    }
    const { leave: onLeave, reconnect: onReturn } = sender;
    capture = startCapture(settings.autocapture, { track, onLeave, onReturn });
    if (queue.list().length > 0) sender.added();
  };

  consent(settings.consent ?? !asksNotToBeTracked());
  return {
    page: () => {
      if (isOn) capture?.page();
    },
    identify: (userId, traits) => {
      if (!isOn) return;
      const given = String(userId ?? '');
      if (!given) return warn('identify needs a user id');
      const { anonymous_id, external_id } = identity.identify(given);
      add((message_id, occurred_at) => ({
        external_id,
        anonymous_id,
        traits,
        occurred_at,
        message_id,
      }));
      void sender.flush();
    },
    track: (event, properties) => track(event, properties),
    reset: () => identity.reset(),
    consent,
    destroy: async () => {
      isOn = false;
      isDestroyed = true;
      onDestroy();
      capture?.stop();
      await sender.flush();
      await sender.flush();
      sender.stop();
    },
  };
};
