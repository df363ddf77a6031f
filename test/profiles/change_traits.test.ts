import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import { changeTraits, linkPeople, listProfiles, seePeople } from '../../src/profiles/profiles.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const at = new Date('2026-03-01T00:00:00Z');

const newPeople = async () => {
  const projectId = newId();
  const people = await inProject(database.deps, projectId, async (scope) => {
    const seen = { first_seen_at: at, last_seen_at: at };
    const made = await identity.see(scope, [
      { kind: 'anonymous', value: 'device', ...seen },
      { kind: 'external', value: 'ann', ...seen },
    ]);
    await seePeople(scope, made);
    return made;
  });
  const idOf = (wanted: string): string =>
    people.find(({ value }) => value === wanted)?.identity_id ?? '';
  return { projectId, device: idOf('device'), ann: idOf('ann') };
};

type Value = string | number | null;

const tell = (projectId: string, identityId: string, traits: Record<string, Value>, setAt = at) =>
  inProject(database.deps, projectId, (scope) =>
    changeTraits(scope, { identityId, traits, setAt, authority: 'server' }),
  );

const link = (projectId: string) =>
  inProject(database.deps, projectId, (scope) =>
    linkPeople(scope, {
      anonymous_id: 'device',
      external_id: 'ann',
      source: 'alias',
      key_type: 'server',
    }),
  );

const ann = async (projectId: string) => {
  const [profile] = await inProject(database.deps, projectId, (scope) =>
    listProfiles(scope, { by: 'external', value: 'ann' }),
  );
  return profile;
};

test('what a linked identity is told is on the profile it belongs to now', async () => {
  const { projectId, device, ann: annId } = await newPeople();
  await tell(projectId, annId, { plan: 'pro' });
  await link(projectId);
  await tell(projectId, device, { city: 'Graz' });
  expect(await ann(projectId)).toMatchObject({ traits: { plan: 'pro', city: 'Graz' } });
});

test('a trait that comes while the link is being made is not lost', async () => {
  const { projectId, device } = await newPeople();
  const linking = await connectTo(database, projectId);
  await linking.query('begin');
  await linking.query(
    `select from identity.link_identities(project_id => $1, link_id => $2, anonymous_id => 'device',
      external_id => 'ann', source => 'alias', key_type => 'server', at => now(), day_began_at => now(),
      links_a_day_max => 1, links_max => 1, refusals_a_day_max => 1)`,
    [projectId, newId()],
  );
  const telling = tell(projectId, device, { city: 'Graz' });
  await untilWaiting(database);
  expect(await isSettled(telling)).toBe(false);
  await linking.query('commit');
  await telling;
  expect(await ann(projectId)).toMatchObject({ traits: { city: 'Graz' } });
});

test('many at once on both sides of a link fold into one profile with all of it', async () => {
  const { projectId, device, ann: annId } = await newPeople();
  await Promise.all([
    link(projectId),
    ...Array.from({ length: 20 }, (_, n) =>
      tell(projectId, n % 2 === 0 ? device : annId, { [`trait_${n}`]: n }),
    ),
  ]);
  const profile = await ann(projectId);
  expect(Object.keys(profile?.traits ?? {})).toHaveLength(20);
});

test('the tags follow the address: one that is suppressed already tags whoever gets it', async () => {
  const { projectId, ann: annId } = await newPeople();
  await inProject(database.deps, projectId, async (scope) => {
    await suppress(scope, { email: 'gone@example.com', reason: 'complaint', source: 'test' });
    await suppress(scope, { email: 'gone@example.com', reason: 'hard_bounce', source: 'test' });
  });
  await tell(projectId, annId, { email: 'gone@example.com' });
  expect(await ann(projectId)).toMatchObject({
    suppressed: true,
    tags: ['complained', 'hard_bounced'],
  });
  const later = new Date(at.getTime() + 1_000);
  await tell(projectId, annId, { email: 'new@example.com' }, later);
  expect(await ann(projectId)).toMatchObject({ suppressed: false, tags: [] });
});
