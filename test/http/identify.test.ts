import { expect, test } from 'vitest';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { ask, toWire } from './raw_http.ts';

const api = testApi(testDatabase());
const alive = (headers: Record<string, string> = {}) => api.call('GET', '/healthz', { headers });

const MADE = /^req_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';

test('a request without an id is given one', async () => {
  const { headers } = await alive();
  expect(headers.get('x-request-id')).toMatch(MADE);
  expect((await alive()).headers.get('x-request-id')).not.toBe(headers.get('x-request-id'));
});

test('a well-formed id is taken over, in answers and in errors', async () => {
  for (const id of ['a'.repeat(8), 'a'.repeat(128), 'A-b_c.d:12']) {
    expect((await alive({ 'x-request-id': id })).headers.get('x-request-id')).toBe(id);
    const refused = await api.call('GET', '/v1/sends', { headers: { 'x-request-id': id } });
    expectRefusal(refused, 'invalid_token');
    expect(refused.body.request_id).toBe(id);
  }
});

test('an id that could do harm where it is shown is replaced', async () => {
  for (const id of [
    'short',
    'a'.repeat(129),
    'with space',
    '<script>alert(1)</script>',
    '${jndi:x}',
    'é'.repeat(10),
  ])
    expect((await alive({ 'x-request-id': id })).headers.get('x-request-id')).toMatch(MADE);
});

test('an id given twice is replaced', async () => {
  const [answer] = await ask(
    api.url,
    'GET /healthz HTTP/1.1\r\nHost: a\r\nX-Request-Id: aaaaaaaa\r\nX-Request-Id: bbbbbbbb\r\nConnection: close\r\n\r\n',
  );
  expect(answer?.headers.get('x-request-id')).toMatch(MADE);
});

test('a trace is continued with a parent id of our own', async () => {
  const { headers } = await alive({ traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` });
  const [version, traceId, parentId, flags] = (headers.get('traceparent') ?? '').split('-');
  expect([version, traceId, flags]).toEqual(['00', TRACE_ID, '01']);
  expect(parentId).toMatch(/^[0-9a-f]{16}$/);
  expect(parentId).not.toBe(PARENT_ID);
});

test('a trace of a version to come is continued in ours', async () => {
  const { headers } = await alive({ traceparent: `01-${TRACE_ID}-${PARENT_ID}-ff-more` });
  expect(headers.get('traceparent')).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-03$`));
});

test('a trace that is none is replaced', async () => {
  const wrong = [
    '',
    'nonsense',
    `00-${'0'.repeat(32)}-${PARENT_ID}-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    `00-${TRACE_ID.toUpperCase()}-${PARENT_ID}-01`,
    `00-${TRACE_ID}-${PARENT_ID}-01-more`,
  ];
  for (const traceparent of wrong) {
    const { headers } = await alive({ traceparent });
    expect(headers.get('traceparent')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(headers.get('traceparent')).not.toContain(TRACE_ID);
  }
});

test('a header cannot be smuggled into the answer', async () => {
  const [answer] = await ask(
    api.url,
    toWire({
      path: '/healthz?a=%0d%0aX-Evil:1',
      headers: { 'X-Request-Id': 'aaaaaaaa%0d%0aX-Evil:1', Connection: 'close' },
    }),
  );
  expect(answer?.headers.has('x-evil')).toBe(false);
});
