// What one post tells: of each what it told alone, in as few statements.
import { expect, test } from 'vitest';
import { sql } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { record } from '../../src/feedback/feedback.ts';
import type { Notice } from '../../src/feedback/notice.ts';
import { meaning } from '../../src/feedback/notice.ts';
import { JUDGED_AT_ONCE_MAX } from '../../src/feedback/soft_bounces.ts';
import { writeSoftBouncesMax } from '../../src/feedback/soft_queries.ts';
import { addressKey, eraseAddresses } from '../../src/suppression/suppression.ts';
import { newPerson, profileOf, tell } from '../profiles/people.ts';
import { testDatabase } from '../support/database.ts';
import { at, newNotice, projectTold, softBounce } from './project_told.ts';

const database = testDatabase();

const HARD = meaning('bounced', 'hard');
const emailOf = (nth: number): string => `person-${nth}@example.com`;

/** A scope whose statements are counted. */
const counting = (scope: Scope): { scope: Scope; statements: () => number } => {
  let count = 0;
  const tx = new Proxy(scope.tx, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      count += 1;
      return member.bind(target) as unknown;
    },
  });
  return { scope: { ...scope, tx }, statements: () => count };
};

/** A project with so many people, each with a send, and how many statements it takes to tell it of all of them. */
const countFor = async (
  people: number,
  noticesOf: (about: Pick<Notice, 'email' | 'sendId' | 'messageIds'>) => Notice[],
): Promise<number> => {
  const { projectId, sends, accepted } = projectTold(database);
  await sends.within((scope) => writeSoftBouncesMax(scope, 2));
  const notices: Notice[] = [];
  for (let nth = 0; nth < people; nth += 1) {
    const email = emailOf(nth);
    await tell(database, await newPerson(database, projectId), { traits: { email } });
    const sendId = await accepted(email, `id-${nth}`);
    notices.push(...noticesOf({ email, sendId, messageIds: [`id-${nth}`] }));
  }
  return sends.within(async (scope) => {
    const counted = counting(scope);
    const told = await record(counted.scope, 'smtp', notices);
    expect(told).toEqual({ accepted: notices.length, duplicates: 0, ignored: 0 });
    return counted.statements();
  });
};

test.each<[string, Parameters<typeof countFor>[1]]>([
  ['deliveries by the id of the send', ({ email, sendId }) => [newNotice({ email, sendId })]],
  ['deliveries by message id', ({ email, messageIds }) => [newNotice({ email, messageIds })]],
  ['deliveries by address', ({ email }) => [newNotice({ email })]],
  ['hard bounces', ({ email, sendId }) => [newNotice({ ...HARD, email, sendId })]],
  ['unsubscribes', ({ email }) => [newNotice({ kind: 'unsubscribed', email })]],
  ['soft bounces', ({ email }) => [softBounce(1, { email }), softBounce(2, { email })]],
])('%s of many are taken in as many statements as those of two', async (_name, noticesOf) => {
  expect(await countFor(20, noticesOf)).toBe(await countFor(2, noticesOf));
});

test('whoever bounces softly too often is given up, however many one post tells of', async () => {
  const { sends, tell: post, suppressed } = projectTold(database);
  await sends.within((scope) => writeSoftBouncesMax(scope, 2));
  const emails = Array.from({ length: JUDGED_AT_ONCE_MAX + 1 }, (_, nth) => emailOf(nth));
  await post(...emails.flatMap((email) => [softBounce(1, { email }), softBounce(2, { email })]));
  for (const email of emails)
    expect(await suppressed(email), email).toMatchObject({ reason: 'soft_bounces' });
});

test('what comes twice in one post is one, beside what came before', async () => {
  const { tell: post, sends } = projectTold(database);
  const [a, b, c] = [newNotice(), newNotice({ email: 'bob@example.com' }), newNotice()];
  expect(await post(a, a)).toEqual({ accepted: 1, duplicates: 1, ignored: 0 });
  expect(await post(b, c, a, b, b)).toEqual({ accepted: 2, duplicates: 3, ignored: 0 });
  expect(await post(newNotice({ kind: 'deferred' }), a)).toEqual({
    accepted: 0,
    duplicates: 1,
    ignored: 1,
  });
  const kept = await sends.within(({ tx, projectId }) =>
    tx.query(sql.unsafe`select from feedback.notices where project_id = ${projectId}`),
  );
  expect(kept.rowCount).toBe(4);
});

test('each address of a post has its own end, and its people their own tags', async () => {
  const { projectId, sends, tell: post, suppressed } = projectTold(database);
  await sends.within((scope) => writeSoftBouncesMax(scope, 2));
  const emails = ['ann', 'bob', 'cyd', 'dan'].map((name) => `${name}@example.net`);
  const [ann, bob, cyd, dan] = emails as [string, string, string, string];
  const people = new Map<string, Awaited<ReturnType<typeof newPerson>>>();
  for (const email of emails) {
    const person = await newPerson(database, projectId);
    await tell(database, person, { traits: { email } });
    people.set(email, person);
  }
  await post(
    softBounce(1, { email: ann }),
    softBounce(2, { email: ann }),
    newNotice({ ...HARD, email: bob }),
    newNotice({ ...meaning('complained'), email: bob }),
    newNotice({ kind: 'unsubscribed', email: bob }),
    newNotice({ kind: 'unsubscribed', email: cyd, occurredAt: at(1) }),
    newNotice({ kind: 'resubscribed', email: cyd, occurredAt: at(2) }),
    softBounce(1, { email: dan }),
    newNotice({ email: dan, occurredAt: at(2) }),
    softBounce(3, { email: dan }),
  );
  const ends: unknown[] = [];
  for (const [email, person] of people)
    ends.push([
      (await suppressed(email))?.reason ?? null,
      (await profileOf(database, person)).tags,
    ]);
  expect(ends).toEqual([
    ['soft_bounces', ['soft_bounced']],
    ['complaint', ['complained', 'hard_bounced', 'unsubscribed']],
    [null, []],
    [null, []],
  ]);
});

test('of an address that was erased nothing is kept beside those that were not', async () => {
  const { sends, tell: post } = projectTold(database);
  const [gone, there] = ['gone@example.com', 'there@example.com'];
  await post(newNotice({ email: gone }), newNotice({ email: there }));
  await sends.within((scope) => eraseAddresses(scope, [addressKey(scope, gone)]));
  const told = { ...HARD, reason: 'user unknown' };
  expect(
    await post(newNotice({ ...told, email: gone }), newNotice({ ...told, email: there })),
  ).toMatchObject({ accepted: 2 });
  const { rows } = await sends.within(({ tx, projectId }) =>
    tx.query(sql.unsafe`
      select reason, address_key is null as is_unknown from feedback.notices
      where project_id = ${projectId} and kind = 'bounced' order by reason
    `),
  );
  expect(rows).toEqual([
    { reason: 'user unknown', is_unknown: false },
    { reason: null, is_unknown: true },
  ]);
});
