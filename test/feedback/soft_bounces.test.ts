import { describe, expect, test } from 'vitest';
import { meaning } from '../../src/feedback/notice.ts';
import type { Notice } from '../../src/feedback/notice.ts';
import { SOFT_BOUNCES_MAX_DEFAULT, writeSoftBouncesMax } from '../../src/feedback/soft_queries.ts';
import { permutationsOf } from '../base/connections.ts';
import { newPerson, profileOf, tell as tellOf } from '../profiles/people.ts';
import { testDatabase } from '../support/database.ts';
import { at, delivery, EMAIL, newNotice, projectTold, softBounce } from './project_told.ts';

const database = testDatabase();
const soft = (...minutes: number[]) => minutes.map((minute) => softBounce(minute));
/** Told one after the other; answers why the address is suppressed in the end. */
const endOf = async (notices: Notice[], softBouncesMax?: number) => {
  const project = projectTold(database);
  if (softBouncesMax !== undefined)
    await project.sends.within((scope) => writeSoftBouncesMax(scope, softBouncesMax));
  for (const notice of notices) await project.tell(notice);
  return project.suppressed();
};

test('five in a row suppress the address, since the fifth; four do not', async () => {
  expect(SOFT_BOUNCES_MAX_DEFAULT).toBe(5);
  expect(await endOf(soft(1, 2, 3, 4))).toBeNull();
  expect(await endOf(soft(1, 2, 3, 4, 5))).toEqual({
    reason: 'soft_bounces',
    source: 'webhook/smtp',
    suppressed_at: at(5),
  });
});

test('a delivery in between begins a new row, one before or after does not matter', async () => {
  expect(await endOf([...soft(1, 2, 3, 4), delivery(5), ...soft(6, 7, 8, 9)])).toBeNull();
  expect(await endOf([delivery(0), ...soft(1, 2, 3, 4, 5), delivery(6)])).toMatchObject({
    suppressed_at: at(5),
  });
  expect(await endOf([...soft(1, 2, 3), delivery(4), ...soft(5, 6, 7, 8, 9)])).toMatchObject({
    suppressed_at: at(9),
  });
});

test('a project may decide on another number, and it counts from the next notice on', async () => {
  expect(await endOf(soft(1, 2), 2)).toMatchObject({ suppressed_at: at(2) });
  expect(await endOf(soft(1), 1)).toMatchObject({ suppressed_at: at(1) });
  expect(await endOf(soft(1, 2, 3, 4, 5), 6)).toBeNull();
  const project = projectTold(database);
  await project.tell(...soft(1, 2, 3));
  await project.sends.within((scope) => writeSoftBouncesMax(scope, 3));
  expect(await project.suppressed()).toBeNull();
  await project.tell(softBounce(0));
  expect(await project.suppressed()).not.toBeNull();
});

test.each([
  ['refusals of the sender or the content', { kind: 'bounced', bounceType: 'block' }],
  ['bounces that nothing is known of', { kind: 'bounced', bounceType: 'undetermined' }],
  ['delays', { kind: 'deferred', bounceType: 'soft' }],
  ['trial runs', { kind: 'bounced', bounceType: 'soft', isTest: true }],
] as const)('%s do not count', async (_what, given) => {
  const told = Array.from({ length: 8 }, (_, minute) =>
    newNotice({ ...given, occurredAt: at(minute) }),
  );
  expect(await endOf(told)).toBeNull();
});

test('of others, and of another project, nothing counts', async () => {
  const [ours, theirs] = [projectTold(database), projectTold(database)];
  await ours.tell(...soft(1, 2, 3, 4), softBounce(5, { email: 'bob@example.com' }));
  await theirs.tell(softBounce(6));
  expect([await ours.suppressed(), await theirs.suppressed()]).toEqual([null, null]);
});

test('the same notice again does not count again', async () => {
  const one = softBounce(1);
  expect(await endOf([one, one, one, one, one, one])).toBeNull();
});

describe('told in any order', () => {
  test('the end is the same', async () => {
    const told = [...soft(1, 2, 4, 5), delivery(3)];
    for (const order of permutationsOf(told))
      expect(await endOf(order, 2)).toMatchObject({ suppressed_at: at(5) });
    const apart = [softBounce(1), delivery(2), softBounce(3), delivery(4), softBounce(5)];
    for (const order of permutationsOf(apart).filter((_, index) => index % 3 === 0))
      expect(await endOf(order, 2)).toBeNull();
  });

  test('a delivery that we are told of late takes the suppression back, and nothing else', async () => {
    const project = projectTold(database);
    await project.tell(...soft(1, 2, 3, 4, 6));
    expect(await project.suppressed()).toMatchObject({ reason: 'soft_bounces' });
    await project.tell(delivery(5));
    expect(await project.suppressed()).toBeNull();

    await project.tell(...soft(7, 8, 9, 10));
    await project.tell(newNotice({ kind: 'complained', occurredAt: at(11) }));
    await project.tell(delivery(8.5));
    expect(await project.suppressed()).toMatchObject({ reason: 'complaint' });
  });

  test('every change of it is in the history', async () => {
    const project = projectTold(database);
    await project.tell(...soft(1, 2, 3, 4, 6));
    await project.tell(delivery(5));
    const { rows } = await database.owner.query(
      'select change, reason from suppression.history where project_id = $1 order by history_id',
      [project.projectId],
    );
    expect(rows).toEqual([
      { change: 'soft_bounced', reason: null },
      { change: 'soft_recovered', reason: null },
    ]);
  });
});

test('who has the address is tagged for it, also later, as long as it counts', async () => {
  const project = projectTold(database);
  const ann = await newPerson(database, project.projectId);
  await tellOf(database, ann, { traits: { email: EMAIL } });
  await project.tell(...soft(1, 2, 4, 5, 6));
  const late = await newPerson(database, project.projectId);
  await tellOf(database, late, { traits: { email: EMAIL } });
  const tagsOf = async (person: typeof ann) => (await profileOf(database, person)).tags;
  for (const person of [ann, late]) expect(await tagsOf(person)).toEqual(['soft_bounced']);
  await project.tell(delivery(3));
  for (const person of [ann, late]) expect(await tagsOf(person)).toEqual([]);
});

test('the provider’s own list is told apart from a hard bounce; a complaint outweighs all', async () => {
  const project = projectTold(database);
  const ann = await newPerson(database, project.projectId);
  await tellOf(database, ann, { traits: { email: EMAIL } });
  const listed = { ...meaning('bounced', 'hard'), suppresses: 'provider_suppressed' } as const;
  await project.tell(...soft(1, 2, 3, 4, 5), newNotice(listed));
  expect(await project.suppressed()).toMatchObject({ reason: 'provider_suppressed' });
  expect((await profileOf(database, ann)).tags).toEqual(['provider_suppressed', 'soft_bounced']);
  const late = await newPerson(database, project.projectId);
  await tellOf(database, late, { traits: { email: EMAIL } });
  expect((await profileOf(database, late)).tags).toEqual(['provider_suppressed', 'soft_bounced']);
  await project.tell(newNotice({ kind: 'bounced', bounceType: 'hard' }));
  expect(await project.suppressed()).toMatchObject({ reason: 'hard_bounce' });
  await project.tell(newNotice({ ...meaning('rejected'), suppresses: 'complaint' }));
  expect(await project.suppressed()).toMatchObject({ reason: 'complaint' });
  expect((await profileOf(database, ann)).tags).toEqual([
    'complained',
    'hard_bounced',
    'provider_suppressed',
    'soft_bounced',
  ]);
});
