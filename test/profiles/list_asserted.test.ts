import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { readForEmail } from '../../src/profiles/profiles.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson, tell } from './people.ts';
import type { Someone } from './people.ts';

const database = testDatabase();
const EMAIL = 'ann@example.com';
const read = async (
  { projectId, identityId, profileId }: Someone,
  email: string | null = EMAIL,
) => {
  const [found] = await inProject(database.deps, projectId, (scope) =>
    readForEmail(scope, [{ identityId, profileId, email }]),
  );
  return found;
};

const say = (
  someone: Someone,
  anonymousId: string | null,
  traits: Record<string, string | null>,
  at = '12:00',
) =>
  tell(database, someone, {
    authority: 'publishable',
    anonymousId,
    traits,
    setAt: new Date(`2026-01-31T${at}:00Z`),
  });

test('an email shows what the browser said that said the address, in as many steps as it took', async () => {
  const ann = await newPerson(database);
  await say(ann, 'hers', { first_name: 'Ann' });
  await say(ann, 'hers', { email: EMAIL }, '12:01');
  await say(ann, 'hers', { phone: '5550001', first_name: 'Anna' }, '12:02');
  const traits = { email: EMAIL, first_name: 'Anna', phone: '5550001' };
  expect((await read(ann))?.asserted?.traits).toEqual(traits);
});

test('nothing that a server or another browser said, neither does it hide or reveal anything', async () => {
  const ann = await newPerson(database);
  await say(ann, 'hers', { phone: '5550001', pet: 'cat' });
  await tell(database, ann, { traits: { street: 'Elm Street', first_name: 'Ann' } });
  await say(ann, 'attacker', { email: 'evil@x.test', first_name: 'Eve' }, '12:01');
  const asserted = (await read(ann, 'evil@x.test'))?.asserted;
  expect(asserted?.traits).toEqual({ email: 'evil@x.test', first_name: 'Eve' });
});

test('a browser that does not say who it is asserted only what came with the address', async () => {
  const ann = await newPerson(database);
  await say(ann, null, { phone: '5550001' });
  await say(ann, null, { email: EMAIL, first_name: 'Ann' }, '12:01');
  await say(ann, null, { pet: 'cat' }, '12:02');
  expect((await read(ann))?.asserted?.traits).toEqual({ email: EMAIL, first_name: 'Ann' });
});

test('a null takes a trait away, and an address that nobody asserted has none', async () => {
  const ann = await newPerson(database);
  await say(ann, 'hers', { email: EMAIL, pet: 'cat' });
  await say(ann, 'hers', { pet: null }, '12:01');
  expect((await read(ann))?.asserted?.traits).toEqual({ email: EMAIL });
  expect((await read(ann, 'other@x.test'))?.asserted).toEqual({ traits: {}, browserKey: null });
});
