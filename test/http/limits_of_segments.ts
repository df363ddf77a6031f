// The limits of segments, at the bound and one past it.
import type { RefusalName } from '../../src/base/refusal.ts';
import type { Answer } from '../support/api.ts';

type Send = (count: number) => Promise<Answer>;
type Bound = (sends: Send[], name?: RefusalName) => (value: number) => Promise<void>;
type Given = {
  post: (path: string, body: unknown) => Promise<Answer>;
  /** Asks for another project from now on. */
  startAfresh: () => Promise<void>;
  bound: Bound;
};

const tag = { kind: 'tag', tag: 'complained' };
const trait = (test: object) => ({ kind: 'trait', trait: 'a', test });
const event = (given: object) => ({ kind: 'event', event: 'made', ...given });
const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const chars = (count: number) => 'x'.repeat(count);
const nested = (levels: number): object =>
  levels === 1 ? tag : { kind: 'not', of: nested(levels - 1) };

/** How each is tried, by its name in the documents. */
export const limitsOfSegments = ({
  post,
  startAfresh,
  bound,
}: Given): Record<string, (value: number) => Promise<void>> => {
  const createNamed = (name: string) => post('/v1/segments', { name, definition: { where: tag } });
  // However many are tried, each has room.
  const create = async (definition: object) => {
    await startAfresh();
    return post('/v1/segments', { name: 'a', definition });
  };
  const importInto = async (body: unknown) => {
    const { body: made } = await post('/v1/segments', { name: 'static' });
    if (made.id !== undefined) return post(`/v1/segments/${made.id}/imports`, body);
    await startAfresh();
    const { body: again } = await post('/v1/segments', { name: 'static' });
    return post(`/v1/segments/${again.id}/imports`, body);
  };
  const where = (make: (count: number) => object): Send[] => [
    (count) => create({ where: make(count) }),
  ];
  let made = 0;
  return {
    'Segments of a project': async (value) => {
      const first = await create({ where: tag });
      if (first.status !== 201) throw new Error('the first is refused');
      made = 1;
      const more: Send = async (count) => {
        let answer = first;
        for (; made < count; made += 1) answer = await createNamed(`segment ${made}`);
        return answer;
      };
      await bound([more], 'too_many_segments')(value);
    },
    'Name of a segment': async (value) => {
      await startAfresh();
      await bound([(count) => createNamed(chars(count))])(value);
    },
    'Conditions of a segment': bound(
      where((count) => ({ kind: 'all', of: [{ kind: 'any', of: times(count - 2, tag) }] })),
    ),
    'Nesting of conditions': bound(where(nested)),
    'Filters of a condition': bound(
      where((count) => event({ where: times(count, { property: 'a', test: { is: 'exists' } }) })),
    ),
    'Values of a condition': bound(
      where((count) => trait({ is: 'one_of', values: times(count, 'a') })),
    ),
    'A text in a condition': bound([
      ...where((count) => trait({ is: 'equals', value: chars(count) })),
      ...where((count) => trait({ is: 'starts_with', value: chars(count) })),
    ]),
    'Window of a condition': bound([
      ...where((count) => event({ within_days: count })),
      ...where((count) => trait({ is: 'within_last', days: count })),
      ...where((count) => trait({ is: 'within_next', days: count })),
    ]),
    'Days of an anniversary': bound(where((count) => trait({ is: 'anniversary', days: count }))),
    'People in an import': bound([
      async (count) => importInto({ people: times(count, { external_id: 'ann' }) }),
      async (count) => importInto({ csv: `email\n${times(count, 'a@example.com').join('\n')}` }),
    ]),
    'Body of an import of people': bound(
      [(count) => importInto(JSON.stringify({ people: [{ external_id: 'ann' }] }).padEnd(count))],
      'body_too_large',
    ),
    'Count of a condition': bound(
      where((count) => event({ count: { is: 'at_most', value: count } })),
    ),
  };
};
