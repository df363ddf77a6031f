import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { failpoint, isArmed } from '../base/failpoint.ts';
import type { WireMessage } from './transport.ts';

/**
 * A body up to this is written at once with its end: one packet and one system call instead of three. A socket holds
 * twice as much before it asks its writer to wait.
 */
export const WRITTEN_TOGETHER_BYTES_MAX = 32 * 1024;

type Steps = { socket: Socket | null; onStart: () => void; onEnd: () => void };

/** Returns a message as a stream of two halves, so that the start of the body is a known moment. */
export const bodyOf = (
  { raw, mayStart }: WireMessage,
  { socket, onStart, onEnd }: Steps,
): Readable => {
  const isSmall = raw.length <= WRITTEN_TOGETHER_BYTES_MAX && !isArmed('mid_body');
  const held = isSmall ? socket : null;
  const middle = Math.ceil(raw.length / 2);
  let step = 0;
  return new Readable({
    read() {
      step += 1;
      if (step === 1 && !mayStart()) {
        this.destroy(new Error('deadline passed before the first byte'));
      } else if (step === 1) {
        onStart();
        held?.cork();
        this.push(raw.subarray(0, middle));
      } else if (step === 2) {
        failpoint('mid_body');
        this.push(raw.subarray(middle));
      } else {
        onEnd();
        // The library writes the end of the body within this turn.
        setImmediate(() => held?.uncork());
        this.push(null);
      }
    },
    highWaterMark: 1,
  });
};
