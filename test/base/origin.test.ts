import { expect, test } from 'vitest';
import { toOrigin } from '../../src/base/origin.ts';

test('an IPv4 address counts whole, however it is written', () => {
  expect(toOrigin('192.0.2.1')).toBe('192.0.2.1');
  expect(toOrigin('::ffff:192.0.2.1')).toBe('192.0.2.1');
  expect(toOrigin('::FFFF:192.0.2.1')).toBe('192.0.2.1');
});

test('of an IPv6 address the network counts: its owner has all the rest', () => {
  const same = [
    '2001:db8:1:2::',
    '2001:db8:1:2::1',
    '2001:DB8:1:2:ffff:ffff:ffff:ffff',
    '2001:0db8:0001:0002:1:1:1:1',
    '2001:db8:1:2::1%eth0',
  ];
  for (const address of same) expect(toOrigin(address), address).toBe('2001:db8:1:2');
  expect(toOrigin('2001:db8:1:3::1')).toBe('2001:db8:1:3');
  expect(toOrigin('2001:db8::1')).toBe('2001:db8:0:0');
  expect(toOrigin('::1')).toBe('0:0:0:0');
  expect(toOrigin('fe80::1%eth0')).toBe('fe80:0:0:0');
});

test('what is no address is taken as it is', () => {
  for (const text of ['', 'unknown', '1.2.3', 'a:b']) expect(toOrigin(text)).toBe(text);
});
