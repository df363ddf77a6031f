import { expect, test } from 'vitest';
import { Resources } from '../../src/base/resources.ts';

test('the same maker gives the same thing, another maker another', () => {
  const resources = new Resources();
  const make = (name: string) => ({ name });
  const makeToo = (name: string) => ({ name });
  const first = resources.of(make, 'a');
  expect(resources.of(make, 'b')).toBe(first);
  expect(first.name).toBe('a');
  expect(resources.of(makeToo, 'a')).not.toBe(first);
});

test('two processes share nothing', () => {
  const make = () => ({});
  expect(new Resources().of(make, undefined)).not.toBe(new Resources().of(make, undefined));
});

test('closing closes each once, in the order they were made, and waits for it', async () => {
  const resources = new Resources();
  const closed: string[] = [];
  const closing = (name: string, wait: Promise<void>) => () => ({
    close: async () => {
      await wait;
      closed.push(name);
    },
  });
  resources.of(
    closing(
      'first',
      Promise.resolve().then(() => {}),
    ),
    undefined,
  );
  resources.of(() => new Map(), undefined);
  resources.of(closing('second', Promise.resolve()), undefined);
  await resources.close();
  expect(closed).toEqual(['first', 'second']);
  await resources.close();
  expect(closed).toHaveLength(2);
});

test('what is made while others are closed is closed too', async () => {
  const resources = new Resources();
  const closed: string[] = [];
  const makeLate = () => ({ close: () => void closed.push('late') });
  const makeEarly = () => ({
    close: async () => {
      await Promise.resolve();
      resources.of(makeLate, undefined);
      closed.push('early');
    },
  });
  resources.of(makeEarly, undefined);
  await resources.close();
  expect(closed).toEqual(['early', 'late']);
});

test('a thing that cannot be closed does not keep the others open', async () => {
  const resources = new Resources();
  let isClosed = false;
  resources.of(() => ({ close: () => Promise.reject(new Error('stuck')) }), undefined);
  resources.of(() => ({ close: () => void (isClosed = true) }), undefined);
  await resources.close().catch(() => {});
  expect(isClosed).toBe(true);
});

test('a maker that fails is asked again the next time', () => {
  const resources = new Resources();
  let asked = 0;
  const make = (): object => {
    asked += 1;
    if (asked === 1) throw new Error('not yet');
    return {};
  };
  expect(() => resources.of(make, undefined)).toThrow('not yet');
  expect(resources.of(make, undefined)).toBe(resources.of(make, undefined));
});
