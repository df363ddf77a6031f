// The limits of a request beside its path and its values, at the bound and one past it.
import { expect } from 'vitest';
import { inChunks, postChunks, singleBytes } from './in_chunks.ts';
import { chars, times } from './of_size.ts';
import { ask, toWire } from './raw_http.ts';

const FIXED = { path: '/healthz', headers: { Host: 'a', Connection: 'close' } };

/** How each is tried, by its name in the documents. */
export const limitsOfHeaders = (
  url: () => string,
  key: () => string,
): Record<string, (value: number) => Promise<void>> => {
  const expectStatus = async (more: Record<string, string>, status: number): Promise<void> => {
    const answers = await ask(url(), toWire({ ...FIXED, headers: { ...FIXED.headers, ...more } }));
    expect(answers.map((answer) => answer.status)).toEqual([status]);
  };
  const counted = Object.entries(FIXED.headers).flat().join('').length + FIXED.path.length;
  const many = (count: number): Record<string, string> =>
    Object.fromEntries(times(count - 2, (at) => [`X${at}`, 'a']));
  return {
    'Headers of a request': async (count) => {
      await expectStatus({ X: chars(count - counted - 1) }, 200);
      await expectStatus({ X: chars(count - counted) }, 431);
    },
    'Requests of a connection that wait for their answers': async (count) => {
      const one = toWire({ path: '/healthz', headers: { Host: 'a' } });
      const last = toWire(FIXED);
      const statusesOf = async (...requests: string[]) =>
        (await ask(url(), requests.join(''))).map(({ status }) => status);
      expect(await statusesOf(...times(count - 1, () => one), last)).toEqual(
        times(count, () => 200),
      );
      // Without a request that asks for it, the connection is closed after as many answers.
      expect(await statusesOf(...times(count + 1, () => one))).toEqual(times(count, () => 200));
    },
    'Small chunks of a body': async (count) => {
      const most = singleBytes(count);
      const statusOf = async (chunks: number) =>
        (await postChunks(url(), key(), inChunks(chunks, 1))).map(({ status }) => status);
      expect(await statusOf(most)).toEqual([202]);
      expect(await statusOf(most + 1)).toEqual([400]);
    },
    'Number of headers': async (count) => {
      await expectStatus(many(count), 200);
      await expectStatus(many(count + 1), 431);
    },
  };
};
