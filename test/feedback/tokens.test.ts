import { expect, test } from 'vitest';
import { readHookToken } from '../../src/feedback/tokens.ts';

const TOKEN = 'svc_hook_live_0123456789';
const read = (headers: Record<string, string | string[]>, query = '') =>
  readHookToken({
    headers: headers as never,
    query: new URLSearchParams(query),
  });
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

test.each([
  ['a bearer token', { authorization: `Bearer ${TOKEN}` }, ''],
  ['a bearer token in any case, with blanks', { authorization: `bearer   ${TOKEN}  ` }, ''],
  ['a Basic password', { authorization: basic(`relay:${TOKEN}`) }, ''],
  ['a Basic password without a name', { authorization: basic(`:${TOKEN}`) }, ''],
  ['a header', { 'x-webhook-token': TOKEN }, ''],
  ['the query', {}, `token=${TOKEN}`],
])('the token is read from %s', (_where, headers, query) => {
  expect(read(headers, query)).toBe(TOKEN);
});

test('a password with colons inside is read whole', () => {
  expect(read({ authorization: basic('relay:a:b:c') })).toBe('a:b:c');
});

test('the authorization header counts more than the other places, the query least', () => {
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-webhook-token': 'other' };
  expect(read(headers, 'token=third')).toBe(TOKEN);
  expect(read({ 'x-webhook-token': TOKEN }, 'token=third')).toBe(TOKEN);
});

test('a scheme nobody knows is passed over', () => {
  expect(read({ authorization: 'Digest x' }, `token=${TOKEN}`)).toBe(TOKEN);
});

test('without a token there is none', () => {
  expect(read({})).toBeNull();
  expect(read({ authorization: 'Bearer ' })).toBeNull();
  expect(read({ 'x-webhook-token': ['a', 'b'] })).toBeNull();
});
