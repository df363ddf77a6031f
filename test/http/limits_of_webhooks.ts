// The limits of what is posted to webhooks, at the bound and one past it.
import { expect } from 'vitest';
import type { RefusalName } from '../../src/base/refusal.ts';
import type { Answer } from '../support/api.ts';

type Send = (count: number) => Promise<Answer>;
type Given = {
  postHook: (body: unknown) => Promise<Answer>;
  bound: (sends: Send[], name?: RefusalName) => (value: number) => Promise<void>;
};

const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const chars = (count: number) => 'x'.repeat(count);
const padded = (body: unknown, count: number) => JSON.stringify(body).padEnd(count);

/** How each is tried, by its name in the documents. */
export const limitsOfWebhooks = ({
  postHook,
  bound,
}: Given): Record<string, (value: number) => Promise<void>> => ({
  'Events in a webhook': bound([
    (count) => postHook(times(count, (at) => ({ event: 'open', email: `a${at}@example.com` }))),
  ]),
  'Id of an event in a webhook': async (count) => {
    // One that is longer is none: the same event at another time is another one then.
    for (const name of ['event_id', 'id', 'uuid']) {
      const email = `${name}@example.com`;
      const events = [count, count + 1].flatMap((long) =>
        times(2, (time) => ({ event: 'open', email, time: time + 1, [name]: chars(long) })),
      );
      expect((await postHook(events)).body).toMatchObject({ accepted: 3, duplicates: 1 });
    }
  },
  'Any name or address in a webhook': bound([
    (count) => postHook({ event: chars(count), email: 'a@example.com' }),
    (count) => postHook({ event: 'open', to: `${chars(count - 15)}<a@example.com>` }),
  ]),
  'Body of a webhook': bound(
    [(count) => postHook(padded({ event: 'open', email: 'a@example.com' }, count))],
    'body_too_large',
  ),
});
