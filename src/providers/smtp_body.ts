import { Readable } from 'node:stream';
import { failpoint } from '../base/failpoint.ts';
import type { WireMessage } from './transport.ts';

/** Returns a message as a stream of two halves, so that the start of the body is a known moment. */
export const bodyOf = (
  { raw, mayStart }: WireMessage,
  { onStart, onEnd }: { onStart: () => void; onEnd: () => void },
): Readable => {
  const middle = Math.ceil(raw.length / 2);
  let step = 0;
  return new Readable({
    read() {
      step += 1;
      if (step === 1 && !mayStart()) {
        this.destroy(new Error('deadline passed before the first byte'));
      } else if (step === 1) {
        onStart();
        this.push(raw.subarray(0, middle));
      } else if (step === 2) {
        failpoint('mid_body');
        this.push(raw.subarray(middle));
      } else {
        onEnd();
        this.push(null);
      }
    },
    highWaterMark: 1,
  });
};
