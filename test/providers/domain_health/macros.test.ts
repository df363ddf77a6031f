// Macros of SPF, held to the examples of RFC 7208 §7.4.
import { expect, test } from 'vitest';
import { readAddress } from '../../../src/providers/domain_health/spf/address.ts';
import type { Address } from '../../../src/providers/domain_health/spf/address.ts';
import {
  expandDomain,
  isOfMessage,
  parseDomainSpec,
  parseMacros,
} from '../../../src/providers/domain_health/spf/macro.ts';

const expand = (text: string, ip = '192.0.2.3'): string =>
  expandDomain(parseMacros(text) ?? [], {
    local: 'strong-bad',
    senderDomain: 'email.example.com',
    domain: 'email.example.com',
    address: readAddress(ip) as Address,
    helo: 'mx.example.org',
  });

test.each([
  ['%{s}', 'strong-bad@email.example.com'],
  ['%{o}', 'email.example.com'],
  ['%{d}', 'email.example.com'],
  ['%{d4}', 'email.example.com'],
  ['%{d3}', 'email.example.com'],
  ['%{d2}', 'example.com'],
  ['%{d1}', 'com'],
  ['%{dr}', 'com.example.email'],
  ['%{d2r}', 'example.email'],
  ['%{l}', 'strong-bad'],
  ['%{l-}', 'strong.bad'],
  ['%{lr}', 'strong-bad'],
  ['%{lr-}', 'bad.strong'],
  ['%{l1r-}', 'strong'],
  ['%{h}', 'mx.example.org'],
  ['%{ir}.%{v}._spf.%{d2}', '3.2.0.192.in-addr._spf.example.com'],
  ['%{lr-}.lp._spf.%{d2}', 'bad.strong.lp._spf.example.com'],
  ['%{lr-}.lp.%{ir}.%{v}._spf.%{d2}', 'bad.strong.lp.3.2.0.192.in-addr._spf.example.com'],
  ['%{ir}.%{v}.%{l1r-}.lp._spf.%{d2}', '3.2.0.192.in-addr.strong.lp._spf.example.com'],
  ['%{d2}.trusted-domains.example.net', 'example.com.trusted-domains.example.net'],
  ['%{p}.a.test', 'unknown.a.test'],
  ['%{L}.%%.%_.%-.a.test', 'strong-bad.%. .%20.a.test'],
  ['%{S}', 'strong-bad%40email.example.com'],
])('%s is %s', (text, wanted) => {
  expect(expand(text)).toBe(wanted);
});

test('an IPv6 address is its hexadecimal digits', () => {
  expect(expand('%{ir}.%{v}._spf.%{d2}', '2001:db8::cb01')).toBe(
    '1.0.b.c.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6._spf.example.com',
  );
});

test('a name that is too long loses labels on its left', () => {
  const long = expand(`${'%{l}.'.repeat(30)}end.test`);
  expect(long.length).toBeLessThanOrEqual(253);
  expect(long).toMatch(/^strong-bad\.(?:strong-bad\.)+end\.test$/);
});

test.each([
  '%{d0}.test',
  '%{x}.test',
  '%{d',
  '%d',
  '%',
  'a%{r}.test',
  'museum',
  'a.123',
  '',
  'a.-b',
])('%j is no domain-spec', (text) => {
  expect(parseDomainSpec(text)).toBe(null);
});

test('only the domain itself is the same for every message', () => {
  const dependsOnMessage = (text: string) => isOfMessage(parseMacros(text) ?? []);
  expect(['%{d}.a.test', '%{D2r}', 'a.test'].map(dependsOnMessage)).toEqual([false, false, false]);
  expect(['%{i}', '%{s}', '%{l}', '%{o}', '%{h}', '%{p}', '%{v}'].every(dependsOnMessage)).toBe(
    true,
  );
});
