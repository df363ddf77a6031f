// How much of an email, of a text and of an asserted value the search for links reads, at each bound and one past it.
import { describe, expect, test } from 'vitest';
import { CLEANED_CHARS_MAX, cleanAsserted } from '../../src/rendering/asserted.ts';
import {
  Hosts,
  HOSTS_CHARS_MAX,
  HOSTS_DEPTH_MAX,
  TooMuchToRead,
} from '../../src/rendering/links/hosts.ts';
import {
  addText,
  addUrl,
  HOST_CHARS_READ,
  URL_CHARS_READ,
} from '../../src/rendering/links/in_text.ts';
import { readText, SPELLING_CHARS_MAX } from '../../src/rendering/links/spelling.ts';

describe('the hosts of an email', () => {
  test('are read up to HOSTS_CHARS_MAX characters in all; pieces that it repeats count once', () => {
    const hosts = new Hosts();
    const piece = 'a'.repeat(HOSTS_CHARS_MAX - 1);
    expect([hosts.isNew(piece), hosts.isNew(piece), hosts.isNew('b')]).toEqual([true, false, true]);
    expect(() => hosts.isNew('c')).toThrow(TooMuchToRead);
  });

  test.each([
    ['behind a scheme', 'https:', ''],
    ['behind slashes alone', '', '//'],
  ])('are read in URL_CHARS_READ characters %s', (_where, scheme, begun) => {
    const hostOf = (chars: number): string[] => {
      const hosts = new Hosts();
      addText(hosts, `${scheme}${begun.padEnd(chars - 'evil'.length, '/')}evil`);
      return [...hosts.found];
    };
    expect(hostOf(URL_CHARS_READ)).toContain('evil');
    expect(hostOf(URL_CHARS_READ + 1)).not.toContain('evil');
    expect(hostOf(URL_CHARS_READ + 1)).toContain('evi');
  });

  test('are read up to HOST_CHARS_READ characters; a longer one stays as it is written', () => {
    const hostsOf = (chars: number): string[] => {
      const hosts = new Hosts();
      addUrl(hosts, `https://user:word@${'\uFF41'.repeat(chars)}/path`);
      return [...hosts.found];
    };
    expect(hostsOf(HOST_CHARS_READ)).toEqual(['a'.repeat(HOST_CHARS_READ)]);
    expect(hostsOf(HOST_CHARS_READ + 1)).toEqual(['\uFF41'.repeat(HOST_CHARS_READ + 1)]);
  });

  test('are read HOSTS_DEPTH_MAX deep in one another', () => {
    const reads: number[] = [];
    const hosts = new Hosts();
    const readAt = (depth: number, max: number): void => {
      reads.push(depth);
      if (depth < max) hosts.inside(() => readAt(depth + 1, max));
    };
    readAt(0, HOSTS_DEPTH_MAX);
    expect(reads).toHaveLength(HOSTS_DEPTH_MAX + 1);
    expect(() => readAt(0, HOSTS_DEPTH_MAX + 1)).toThrow(TooMuchToRead);
  });
});

test('a text is read up to SPELLING_CHARS_MAX characters of its spelling', () => {
  const wide = (count: number) => '\uFF41'.repeat(count);
  expect(readText(wide(SPELLING_CHARS_MAX))).toBe('a'.repeat(SPELLING_CHARS_MAX));
  expect(readText(wide(SPELLING_CHARS_MAX + 1))).toBe(null);
});

test('an asserted text is read up to CLEANED_CHARS_MAX characters, hidden ones included', () => {
  const hiddenBefore = (count: number) => cleanAsserted(`${'\u200B'.repeat(count)}Ann`, 'a@b.test');
  expect(hiddenBefore(CLEANED_CHARS_MAX - 3)).toBe('Ann');
  expect(hiddenBefore(CLEANED_CHARS_MAX - 2)).toBe('An');
});
