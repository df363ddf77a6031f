import type { WireMessage } from '../../src/providers/transport.ts';

/** Makes messages for the wire that differ from one only in what is given. */
export const toWire =
  (sendId: string, raw: Buffer) =>
  (changes: Partial<WireMessage> = {}): WireMessage => ({
    sendId,
    from: 'hello@acme.test',
    to: 'ada@example.test',
    raw,
    mayStart: () => true,
    ...changes,
  });
