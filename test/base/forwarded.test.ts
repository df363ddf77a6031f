import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findForwardedAddress, findForwardedHost, isForwarded } from '../../src/base/forwarded.ts';

const CLIENT = '198.51.100.7';
const FORGED = '203.0.113.66';

test.each([
  [0, CLIENT, null],
  [1, CLIENT, CLIENT],
  [1, `${FORGED}, ${CLIENT}`, CLIENT],
  [1, `${FORGED},${FORGED} ,${CLIENT}`, CLIENT],
  [2, `${CLIENT}, 10.0.0.1`, CLIENT],
  [2, `${FORGED}, ${CLIENT}, 10.0.0.1`, CLIENT],
  [1, '', null],
  [1, ',', null],
  [2, FORGED, null],
  [2, `, ,${FORGED}`, null],
  [3, `${FORGED}, ${CLIENT}`, null],
  [1, 'unknown', null],
  [1, `${CLIENT}, _hidden`, null],
  [1, `${CLIENT}:4711`, CLIENT],
  [1, '2001:db8::1', '2001:db8::1'],
  [1, '[2001:db8::1]', '2001:db8::1'],
  [1, '[2001:db8::1]:4711', '2001:db8::1'],
  [1, '[198.51.100.7]x', null],
  [1, '999.1.1.1', null],
])('behind %i proxies %o is from %o', (trusted, header, address) => {
  expect(findForwardedAddress(header, trusted)).toBe(address);
});

const address = fc.oneof(fc.ipV4(), fc.ipV6());

test('whatever a client writes before, the entry of the outermost trusted proxy counts', () => {
  const trusted = fc.integer({ min: 1, max: 5 });
  fc.assert(
    fc.property(
      fc.string(),
      trusted,
      fc.array(address, { minLength: 5, maxLength: 5 }),
      (forged, count, all) => {
        const written = all.slice(0, count);
        const header = [forged, ...written].join(', ');
        expect(findForwardedAddress(header, count)).toBe(written[0]);
      },
    ),
  );
});

test('a list that is shorter than promised names nobody, and no text is taken for an address', () => {
  fc.assert(
    fc.property(fc.array(address, { maxLength: 4 }), (written) => {
      expect(findForwardedAddress(written.join(','), written.length + 1)).toBeNull();
    }),
  );
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 0, max: 10 }), (header, count) => {
      const found = findForwardedAddress(header, count);
      expect(found === null || isIP(found) > 0).toBe(true);
    }),
  );
});

test('the host is the one that the outermost trusted proxy was asked for', () => {
  expect(findForwardedHost('shop.example', 0)).toBeNull();
  expect(findForwardedHost('', 1)).toBeNull();
  expect(findForwardedHost('shop.example', 2)).toBe('shop.example');
  expect(findForwardedHost('forged, shop.example, inner', 2)).toBe('shop.example');
});

test.each(['x-forwarded-for', 'x-forwarded-host', 'x-forwarded', 'forwarded', 'via', 'x-real-ip'])(
  '%s says that a proxy asks',
  (name) => {
    expect(isForwarded(['host', name])).toBe(true);
    expect(isForwarded(['host', 'accept', `not-${name}`])).toBe(false);
  },
);
