import { beforeAll, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, toCursor } from '../../src/base/page.ts';
import * as identity from '../../src/identity/identity.ts';
import { changeTraits } from '../../src/profiles/profiles.ts';
import { Profile } from '../../src/profiles/schema.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson } from './people.ts';

const database = testDatabase();
const api = testApi(database);

/** Identifiers as people choose them, which an address must carry unharmed. */
const AWKWARD = [
  'ann',
  'a/b',
  'a//b/../c',
  'external_id:ann',
  'mailto:ann@example.com',
  'Zoë Ångström',
  '日本語',
  '👩‍👩‍👧',
  'a?b#c&d=e+f%2F%25',
  ' space ',
  '%',
  '.',
  '..',
  'x'.repeat(255),
];

const get = (path: string) => api.call('GET', path, { key: api.project.server_key });
const find = (query: Record<string, string>) =>
  get(`/v1/profiles?${new URLSearchParams(query).toString()}`);
const byExternalId = (id: string) => get(`/v1/profiles/external_id:${encodeURIComponent(id)}`);

beforeAll(async () => {
  const events = [
    ...AWKWARD.map((external_id) => ({ event: 'signed_up', external_id })),
    { event: 'page_viewed', anonymous_id: 'anon-1' },
    { event: 'signed_up', external_id: 'twin' },
  ];
  await api.call('POST', '/v1/events/batch', { key: api.project.server_key, body: { events } });
  await api.processEvents();
  await inProject(database.deps, api.project.project_id, async (scope) => {
    for (const [id, email] of [
      ['ann', 'Ann@Example.com'],
      ['twin', 'ann@example.com'],
    ] as const) {
      const known = await identity.findByValue(scope, 'external', id);
      await changeTraits(scope, {
        identityId: known?.identity_id ?? '',
        traits: { email, plan: { name: 'pro', seats: [1, 2] } },
        setAt: new Date(),
        authority: 'server',
      });
    }
  });
});

describe('GET /v1/profiles/{id}', () => {
  test('200: a profile is everything that is known of a person, in the documented shape', async () => {
    const { status, body } = await byExternalId('ann');
    expect(status).toBe(200);
    expect(Profile.parse(body)).toMatchObject({
      external_id: 'ann',
      identifiers: [{ kind: 'external', value: 'ann' }],
      email: 'Ann@Example.com',
      traits: { email: 'Ann@Example.com', plan: { name: 'pro', seats: [1, 2] } },
      tags: [],
      suppressed: false,
    });
  });

  test('200: whoever has an identifier can be named by it, whatever is in it', async () => {
    for (const id of AWKWARD) {
      const { status, body } = await byExternalId(id);
      expect([id, status, body.external_id]).toEqual([id, 200, id]);
    }
  });

  test('200: the id of a profile names it, in either case', async () => {
    const { body } = await byExternalId('ann');
    for (const id of [body.id, body.id.toUpperCase(), encodeURIComponent(body.id)])
      expect((await get(`/v1/profiles/${id}`)).body).toEqual(body);
  });

  test('200: an anonymous person has a profile, too, without an external id', async () => {
    const { body } = await find({ anonymous_id: 'anon-1' });
    const [{ id }] = body.items;
    expect((await get(`/v1/profiles/${id}`)).body).toMatchObject({
      external_id: null,
      identifiers: [{ kind: 'anonymous', value: 'anon-1' }],
      email: null,
    });
  });

  test('404 not_found: nobody, or a name that is none', async () => {
    const { body } = await find({ anonymous_id: 'anon-1' });
    const [{ id: known }] = body.items;
    const ids = [
      'external_id:',
      'external_id:nobody',
      'external_id:ANN',
      'external_id:anon-1',
      'external_id',
      'ann',
      'anonymous_id:anon-1',
      'EXTERNAL_ID:ann',
      'external_id%253Aann',
      `${known}x`,
      `{${known}}`,
    ];
    for (const id of ids) expectRefusal(await get(`/v1/profiles/${id}`), 'not_found');
  });

  test('404 not_found: a path with more to it than the id', async () => {
    expectRefusal(await get('/v1/profiles/external_id:a/b'), 'not_found');
  });
});

describe('GET /v1/profiles', () => {
  test('200: finds by exactly one identifier', async () => {
    for (const id of AWKWARD) {
      const { status, body } = await find({ external_id: id });
      expect(status).toBe(200);
      expect(body).toEqual({
        items: [expect.objectContaining({ external_id: id })],
        next_cursor: null,
      });
    }
    const { body } = await find({ anonymous_id: 'anon-1' });
    expect(body.items).toHaveLength(1);
  });

  test('200: finds everybody with an address, however it is written', async () => {
    for (const email of ['ann@example.com', 'ANN@EXAMPLE.COM', ' ann@example.com ']) {
      const { body } = await find({ email });
      const found = body.items.map(({ external_id }: Profile) => external_id);
      expect(found.toSorted()).toEqual(['ann', 'twin']);
    }
  });

  test('200: pages of everybody with an address neither skip nor repeat', async () => {
    const email = 'family@example.com';
    const count = 2 * PAGE_ITEMS_MAX + 1;
    for (let at = 0; at < count; at += 1) {
      const { profileId } = await newPerson(database, api.project.project_id);
      await database.owner.query('update profiles.profiles set email = $1 where profile_id = $2', [
        at % 2 === 0 ? email : email.toUpperCase(),
        profileId,
      ]);
    }
    for (const limit of [90, PAGE_ITEMS_MAX]) {
      const sizes: number[] = [];
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: Record<string, string> = { email, limit: String(limit) };
        const { body } = await find(cursor === '' ? page : { ...page, cursor });
        sizes.push(body.items.length);
        seen.push(...body.items.map(({ id }: Profile) => id));
        cursor = body.next_cursor;
      }
      expect(new Set(seen).size).toBe(count);
      expect(seen).toHaveLength(count);
      expect(sizes.slice(0, -1).every((size) => size === limit)).toBe(true);
    }
    expect((await find({ email })).body.items).toHaveLength(PAGE_ITEMS_DEFAULT);
  });

  test('200: an identifier is found on the first page and on no other', async () => {
    const { body } = await find({ external_id: 'ann', limit: '1' });
    const [{ id }] = body.items;
    expect((await find({ external_id: 'ann', cursor: toCursor([id]) })).body.items).toEqual([]);
  });

  test('200: nobody is an empty list', async () => {
    for (const query of [
      { external_id: 'nobody' },
      { anonymous_id: 'ann' },
      { email: 'x@example.com' },
      { email: 'x' },
    ])
      expect((await find(query)).body).toEqual({ items: [], next_cursor: null });
  });

  test('400 invalid_request: none, two, empty or unknown ways to find', async () => {
    const wrong = [
      '',
      'external_id=',
      'email=',
      'external_id=a&email=b',
      'external_id=a&anonymous_id=b',
      'id=a',
      'external_id=a&limit=0',
      'email=a&cursor=a',
    ];
    for (const query of wrong) expectRefusal(await get(`/v1/profiles?${query}`), 'invalid_request');
  });
});
