import { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { bodyOf, WRITTEN_TOGETHER_BYTES_MAX } from '../../src/providers/smtp_body.ts';

/** Reads a body; returns it and whether its socket held back what came before the end. */
const readBody = async (bytes: number) => {
  const socket = new Socket();
  const raw = Buffer.alloc(bytes, 'a');
  const message = { sendId: newId(), from: 'a@a.test', to: 'b@b.test', raw, mayStart: () => true };
  let isHeld = false;
  const onEnd = () => {
    isHeld = socket.writableCorked > 0;
  };
  const body = await buffer(bodyOf(message, { socket, onStart: () => {}, onEnd }));
  socket.destroy();
  return { isHeld, isWhole: body.equals(raw) };
};

test.each([
  ['at the bound is written at once with its end', 0, true],
  ['one byte past the bound is written as it comes', 1, false],
])('a body %s', async (_what, more, isHeld) => {
  expect(await readBody(WRITTEN_TOGETHER_BYTES_MAX + more)).toEqual({ isHeld, isWhole: true });
});
