// What a server key may do about addresses: suppress, lift, unsubscribe, resubscribe, import, look.
import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { ISSUES_MAX } from '../../src/base/parse.ts';
import { IMPORT_ADDRESSES_MAX, NOTE_CHARS_MAX } from '../../src/suppression/schema.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const call = (method: string, path: string, body?: object, headers = {}) =>
  api.call(method, path, {
    key: api.project.server_key,
    headers,
    ...(body === undefined ? {} : { body }),
  });
const stateOf = async (email: string) =>
  (await call('GET', `/v1/suppressions/${encodeURIComponent(email)}`)).body;
let count = 0;
const someEmail = (): string => `person-${(count += 1)}@example.net`;

/** Somebody with a profile, whose tags can be looked at. */
const somebody = async () => {
  const email = someEmail();
  const body = { external_id: email, traits: { email } };
  expect((await call('POST', '/v1/identify', body)).status).toBe(202);
  const tags = async () =>
    (await call('GET', `/v1/profiles?email=${encodeURIComponent(email)}`)).body.items[0].tags;
  return { email, tags };
};
const complain = (email: string) =>
  inProject(database.deps, api.project.project_id, (scope) =>
    suppress(scope, { email, reason: 'complaint', source: 'webhook/smtp' }),
  );

test('201: a suppressed address is on the list, its people are tagged, and it says who and why', async () => {
  const { email, tags } = await somebody();
  const { status, body } = await call('POST', '/v1/suppressions', { email, note: 'on the phone' });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    email,
    suppressed: { reason: 'manual', source: 'api' },
    unsubscribed_at: null,
    history: [{ change: 'suppressed', note: 'on the phone' }],
  });
  expect(await tags()).toEqual(['suppressed']);
  expect(await stateOf(email.toUpperCase())).toEqual(body);
});

describe('an address in another alphabet, as people write it', () => {
  const [written, kept] = [' Ann@BÜCHER.example', 'Ann@xn--bcher-kva.example'];
  const state = async () => stateOf('ann@bücher.example');

  test('201: is suppressed, and lifted under what was answered', async () => {
    const { status, body } = await call('POST', '/v1/suppressions', { email: written });
    expect([status, body.email]).toEqual([201, kept]);
    expect(await state()).toMatchObject({ suppressed: { reason: 'manual' } });
    const { items } = (await call('GET', `/v1/suppressions?email=${encodeURIComponent(written)}`))
      .body;
    expect(items).toMatchObject([{ email: kept }]);
    await call('POST', `/v1/suppressions/${kept}/lift`, { reason: 'a mistake' });
    expect(await state()).toMatchObject({ suppressed: null });
  });

  test('201: is unsubscribed, and subscribed again', async () => {
    const { status, body } = await call('POST', '/v1/unsubscribes', { email: written });
    expect([status, body.email]).toEqual([201, kept]);
    expect((await state()).unsubscribed_at).not.toBeNull();
    const path = `/v1/unsubscribes/${encodeURIComponent('ann@bücher.example')}/resubscribe`;
    expect((await call('POST', path)).body.unsubscribed_at).toBeNull();
  });

  test.each([
    ['addresses', [{ email: written }, { email: kept }]],
    ['csv', `email\n${written}\n${kept}`],
  ])('201: is imported once, as %s', async (form, list) => {
    const { body } = await call('POST', '/v1/suppression-imports', { [form]: list });
    expect(body).toMatchObject({ addresses: 1, errors: [] });
    expect((await state()).suppressed).not.toBeNull();
    await call('POST', `/v1/suppression-imports/${body.import_id}/undo`);
    expect((await state()).suppressed).toBeNull();
  });
});

test.each(['nope', 'a b@example.com', `${'a'.repeat(99)}@example.com`, '', 1])(
  '400 invalid_request: of %j one thing is said',
  async (email) => {
    for (const path of ['/v1/suppressions', '/v1/unsubscribes'])
      expect(expectRefusal(await call('POST', path, { email }), 'invalid_request')).toHaveLength(1);
  },
);

test('200: a lift frees the address and its people, and is remembered with its reason', async () => {
  const { email, tags } = await somebody();
  await call('POST', '/v1/suppressions', { email });
  const { status, body } = await call('POST', `/v1/suppressions/${email}/lift`, {
    reason: 'a mistake',
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    suppressed: null,
    history: [{ change: 'released', note: 'a mistake' }, { change: 'suppressed' }],
  });
  expect(await tags()).toEqual([]);
});

test('409 complaint_not_confirmed: a complaint is lifted when that is said a second time', async () => {
  const email = someEmail();
  await complain(email);
  const lift = (more: object) =>
    call('POST', `/v1/suppressions/${email}/lift`, { reason: 'asked for it', ...more });
  expectRefusal(await lift({}), 'complaint_not_confirmed');
  expect(await stateOf(email)).toMatchObject({ suppressed: { reason: 'complaint' } });
  expect((await lift({ lift_complaint: true })).body).toMatchObject({ suppressed: null });
});

test('201 and 200: who unsubscribes is tagged until they come back, and stays suppressed if they were', async () => {
  const { email, tags } = await somebody();
  await complain(email);
  const left = await call('POST', '/v1/unsubscribes', { email });
  expect(left.status).toBe(201);
  expect(left.body.unsubscribed_at).not.toBeNull();
  expect(await tags()).toEqual(['complained', 'unsubscribed']);
  const back = await call('POST', `/v1/unsubscribes/${email}/resubscribe`);
  expect(back.body).toMatchObject({ unsubscribed_at: null, suppressed: { reason: 'complaint' } });
  expect(await tags()).toEqual(['complained']);
});

test('a person who brings an address that left brings its tags with it', async () => {
  const email = someEmail();
  await call('POST', '/v1/unsubscribes', { email });
  await call('POST', '/v1/identify', { external_id: email, traits: { email } });
  const { body } = await call('GET', `/v1/profiles?email=${email}`);
  expect(body.items[0].tags).toEqual(['unsubscribed']);
});

test('201: an import says its word of each address, once, however it is written', async () => {
  const [one, two] = [someEmail(), someEmail()];
  const { status, body } = await call('POST', '/v1/suppression-imports', {
    addresses: [
      { email: one },
      { email: one.toUpperCase(), reason: 'hard_bounce' },
      { email: two, reason: 'unsubscribed' },
    ],
    note: 'from before',
  });
  expect([status, body]).toEqual([
    201,
    { import_id: expect.any(String), addresses: 2, errors: [] },
  ]);
  expect(await stateOf(one)).toMatchObject({
    suppressed: { reason: 'hard_bounce', source: 'import' },
    history: [{ import_id: body.import_id, note: 'from before' }],
  });
  expect((await stateOf(two)).unsubscribed_at).not.toBeNull();
});

test('200: an import that is taken back frees whom nobody else named, people and tags included', async () => {
  const [mine, other] = [await somebody(), await somebody()];
  await call('POST', '/v1/suppressions', { email: other.email });
  const addresses = [{ email: mine.email }, { email: other.email }];
  const { import_id } = (await call('POST', '/v1/suppression-imports', { addresses })).body;
  expect(await mine.tags()).toEqual(['suppressed']);
  const undo = () => call('POST', `/v1/suppression-imports/${import_id}/undo`);
  expect((await undo()).body).toEqual({ import_id, released: 1 });
  expect([await mine.tags(), await other.tags()]).toEqual([[], ['suppressed']]);
  expect((await undo()).body).toEqual({ import_id, released: 1 });
});

test.each([
  ['plain', 'email\nA\nB\n'],
  [
    'with reasons, in any order of columns, CRLF and a mark of its encoding',
    '\uFEFFreason, Email\r\nhard_bounce,A\r\n,B\r\n',
  ],
  [
    'quoted, with blank lines and columns nobody asked for',
    '"email","name"\n\nA,"Ann ""A"", Jr."\n\n"B",\n\n',
  ],
])('201: CSV is read: %s', async (_what, csv) => {
  const [a, b] = [someEmail(), someEmail()];
  const text = csv
    .replace('A', a)
    .replace(/B(?=[",\n\r])/, b)
    .replace('Ann "', 'Ann "');
  const { status, body } = await call('POST', '/v1/suppression-imports', { csv: text });
  expect([status, body.addresses]).toEqual([201, 2]);
  expect((await stateOf(a)).suppressed).not.toBeNull();
  expect((await stateOf(b)).suppressed).toMatchObject({ reason: 'manual' });
});

test('201: lines of CSV that cannot be read are named, and hold up nobody', async () => {
  const [a, b] = [someEmail(), someEmail()];
  const csv = `email,reason\n${a},\n\nnobody,\n${b},dislike\na"b@example.net,\n"open,\n`;
  const { status, body } = await call('POST', '/v1/suppression-imports', { csv });
  expect([status, body.addresses]).toEqual([201, 1]);
  expect(body.errors.map(({ line }: { line: number }) => line)).toEqual([4, 5, 6, 7]);
  expect((await stateOf(a)).suppressed).not.toBeNull();
});

test('201: entries of JSON that cannot be read are named by their place, and hold up nobody', async () => {
  const [a, b] = [someEmail(), someEmail()];
  const addresses = [
    { email: a },
    { email: 'nobody' },
    { email: b, reason: 'dislike' },
    { email: b, why: 'x' },
    b,
    null,
    { reason: 'manual' },
    { email: b },
  ];
  const { status, body } = await call('POST', '/v1/suppression-imports', { addresses });
  expect([status, body.addresses]).toEqual([201, 2]);
  expect(body.errors.map(({ path }: { path: string }) => path)).toEqual([
    '/addresses/1/email',
    '/addresses/2/reason',
    '/addresses/3/why',
    '/addresses/4',
    '/addresses/5',
    '/addresses/6/email',
  ]);
  expect(body.errors[0].message).toMatch(/^must be one e-mail address/);
  expect([(await stateOf(a)).suppressed, (await stateOf(b)).suppressed]).not.toContain(null);
});

test('201: of what cannot be read the first are named, in either form', async () => {
  const many = ISSUES_MAX + 1;
  for (const list of [
    { csv: `email\n${someEmail()}\n${'x\n'.repeat(many)}` },
    { addresses: [{ email: someEmail() }, ...Array(many).fill(1)] },
  ]) {
    const { body } = await call('POST', '/v1/suppression-imports', list);
    expect([body.addresses, body.errors.length]).toEqual([1, ISSUES_MAX]);
  }
});

test('400 invalid_request: a list of which nothing can be read says why of each, and is no import', async () => {
  const refused = async (list: object) => {
    const answer = await call('POST', '/v1/suppression-imports', list);
    expect(answer.body.detail).toMatch(/nothing was imported/);
    return expectRefusal(answer, 'invalid_request');
  };
  const message = expect.stringMatching(/must be one e-mail address/) as string;
  expect(await refused({ addresses: [{ email: 'nobody' }, 1] })).toEqual([
    { path: '/addresses/0/email', message },
    { path: '/addresses/1', message: expect.any(String) },
  ]);
  expect(await refused({ csv: 'email\n\nnobody\nnone' })).toEqual([
    { path: '/csv', message: expect.stringMatching(/^line 3: must be one/) as string },
    { path: '/csv', message: expect.stringMatching(/^line 4: must be one/) as string },
  ]);
  expect(await refused({ csv: `email\n${'x\n'.repeat(ISSUES_MAX + 1)}` })).toHaveLength(ISSUES_MAX);
  for (const csv of ['', 'email\n'])
    expect(await refused({ csv })).toEqual([{ path: '/csv', message: 'names nobody' }]);
});

test('400 invalid_request: what is no list, and what it has to be', async () => {
  for (const addresses of ['a@example.com', { email: 'a@example.com' }, null, 1]) {
    const answer = await call('POST', '/v1/suppression-imports', { addresses });
    expect(expectRefusal(answer, 'invalid_request')).toMatchObject([
      { path: '', message: expect.stringContaining('`addresses`, a list') as string },
    ]);
  }
});

test('201: CSV without a first line of names has its addresses in the first column', async () => {
  const [a, b] = [someEmail(), someEmail()];
  const { body } = await call('POST', '/v1/suppression-imports', { csv: `${a}\n${b},x` });
  expect(body).toMatchObject({ addresses: 2, errors: [] });
});

test('400 invalid_request: both lists, none, and one address too many, in either form', async () => {
  const list = (length: number) => Array.from({ length }, (_, at) => `n${at}@example.net`);
  const addresses = (length: number) => list(length).map((email) => ({ email }));
  const csv = (length: number) => ['email', ...list(length)].join('\n');
  const post = (body: object) => call('POST', '/v1/suppression-imports', body);
  for (const body of [
    {},
    { addresses: addresses(1), csv: csv(1) },
    { addresses: [] },
    { addresses: addresses(IMPORT_ADDRESSES_MAX + 1) },
    { csv: csv(IMPORT_ADDRESSES_MAX + 1) },
  ])
    expectRefusal(await post(body), 'invalid_request');
  expect((await post({ csv: csv(IMPORT_ADDRESSES_MAX) })).body.addresses).toBe(
    IMPORT_ADDRESSES_MAX,
  );
});

test('400 invalid_request: a note one character too long; a lift without a reason', async () => {
  const email = someEmail();
  const note = (chars: number) => ({ email, note: 'n'.repeat(chars) });
  expectRefusal(
    await call('POST', '/v1/suppressions', note(NOTE_CHARS_MAX + 1)),
    'invalid_request',
  );
  expect((await call('POST', '/v1/suppressions', note(NOTE_CHARS_MAX))).status).toBe(201);
  expectRefusal(await call('POST', `/v1/suppressions/${email}/lift`, {}), 'invalid_request');
});

test('404 not_found: an address that nobody mentioned, text that is none, another project’s import', async () => {
  for (const name of ['nobody@example.net', 'nobody', '%00']) {
    expectRefusal(await call('GET', `/v1/suppressions/${name}`), 'not_found');
    const lift = { reason: 'because' };
    expectRefusal(await call('POST', `/v1/suppressions/${name}/lift`, lift), 'not_found');
    expectRefusal(await call('POST', `/v1/unsubscribes/${name}/resubscribe`), 'not_found');
  }
  const id = '01890000-0000-7000-8000-000000000000';
  expectRefusal(await call('POST', `/v1/suppression-imports/${id}/undo`), 'not_found');
});

test('a lift and a suppression of the same person at once both end, and the tags say which was last', async () => {
  const { email, tags } = await somebody();
  await call('POST', '/v1/suppressions', { email });
  await Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      at % 2 === 0
        ? call('POST', '/v1/suppressions', { email })
        : call('POST', `/v1/suppressions/${email}/lift`, { reason: 'because' }),
    ),
  );
  const { suppressed } = await stateOf(email);
  expect(await tags()).toEqual(suppressed ? ['suppressed'] : []);
});
