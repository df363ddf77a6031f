// The limits of what other people's libraries send, at the bound and one past it.
import type { RefusalName } from '../../src/base/refusal.ts';
import type { Answer } from '../support/api.ts';
import { chars, padded, times } from './of_size.ts';

type Send = (count: number) => Promise<Answer>;
type Given = {
  post: (path: string, body: unknown) => Promise<Answer>;
  bound: (sends: Send[], name?: RefusalName) => (value: number) => Promise<void>;
};

/** How each is tried, by its name in the documents. */
export const limitsOfSegmentDoor = ({
  post,
  bound,
}: Given): Record<string, (value: number) => Promise<void>> => {
  const call = { type: 'track', event: 'Made', userId: 'ann' };
  return {
    'Calls in a batch of another library': bound([
      (count) => post('/segment/v1/batch', { batch: times(count, () => call) }),
      (count) => post('/segment/v1/b', { batch: times(count, () => call) }),
    ]),
    'Name of an event, page or category of another library': bound([
      (count) => post('/segment/v1/track', { ...call, event: chars(count) }),
      (count) => post('/segment/v1/page', { ...call, name: chars(count) }),
      (count) => post('/segment/v1/page', { ...call, category: chars(count) }),
    ]),
    'Body of calls of another library': bound(
      [
        (count) => post('/segment/v1/track', padded(call, count)),
        (count) => post('/segment/v1/batch', padded({ batch: [call] }, count)),
      ],
      'body_too_large',
    ),
  };
};
