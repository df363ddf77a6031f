import { startCapture } from './capture.ts';
import type { Capture } from './capture.ts';
import { warn } from './config.ts';
import type { Client, Settings } from './config.ts';
import { openVisitor } from './visitor.ts';

const asksNotToBeTracked = (): boolean => {
  const { doNotTrack, globalPrivacyControl } = navigator as {
    doNotTrack?: string | null;
    globalPrivacyControl?: boolean;
  };
  return doNotTrack === '1' || globalPrivacyControl === true;
};

/** One client of one key on one page. Without consent it reads, stores and sends nothing. */
export const openClient = (settings: Settings, onDestroy: () => void): Client => {
  const visitor = openVisitor(settings);
  let capture: Capture | undefined;
  let isOn = false;
  let isDestroyed = false;

  /** Drops the calls that come without consent. */
  const whileOn =
    <A extends unknown[]>(act: (...given: A) => void) =>
    (...given: A): void => {
      if (isOn) act(...given);
    };
  const track = whileOn(visitor.track);
  const consent = (isGiven: boolean): void => {
    if (isGiven && (isOn || isDestroyed)) return;
    isOn = isGiven;
    if (isGiven) {
      const { leave: onLeave, resume: onReturn } = visitor;
      capture = startCapture(settings.autocapture, { track, onLeave, onReturn });
      visitor.begin();
    } else {
      capture?.stop();
      visitor.forget();
    }
  };

  // Without it what an earlier page has stored stays until somebody says that it must not.
  if (settings.consent ?? !asksNotToBeTracked()) consent(true);
  return {
    page: whileOn(() => capture?.page()),
    identify: whileOn((userId, traits) => {
      if (userId) visitor.identify(String(userId), traits);
      else warn('identify needs a user id');
    }),
    track,
    reset: whileOn(visitor.reset),
    consent,
    destroy: async () => {
      const flush = isOn ? visitor.flush : undefined;
      isOn = false;
      isDestroyed = true;
      onDestroy();
      capture?.stop();
      // The first may be under way already, without what came since.
      await flush?.();
      await flush?.();
      visitor.stop();
    },
  };
};
