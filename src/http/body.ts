import type { IncomingMessage } from 'node:http';
import { Refusal } from '../base/refusal.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

const tooLarge = (bytesMax: number): Refusal =>
  new Refusal('body_too_large', {
    detail: `The body is larger than ${bytesMax} bytes: send less at once.`,
  });

/** Reads a whole body of at most `bytesMax` bytes, announced or discovered. Never leaves the connection confused. */
export const readBody = (request: IncomingMessage, bytesMax: number): Promise<Buffer> => {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax)
    return Promise.reject(tooLarge(bytesMax));

  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > bytesMax) end(() => reject(tooLarge(bytesMax)));
      else chunks.push(chunk);
    };
    const onEnd = (): void => end(() => resolve(Buffer.concat(chunks, size)));
    const onBroken = (): void => end(() => reject(new Refusal('request_timeout')));
    const end = (answer: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('aborted', onBroken);
      answer();
    };
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('aborted', onBroken);
  });
};

/** Refuses what is not plain JSON by its headers, before a byte of the body is read. */
export const checkMediaType = ({ headers }: IncomingMessage): void => {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (!JSON_TYPE.test(headers['content-type'] ?? '') || encoding !== 'identity') {
    throw new Refusal('unsupported_media_type');
  }
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

export const parseJson = (raw: Buffer): unknown => {
  try {
    return JSON.parse(utf8.decode(raw));
  } catch (cause) {
    throw new Refusal('invalid_json', { cause });
  }
};
