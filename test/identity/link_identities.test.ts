import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import type { LinkAnswer } from '../../src/identity/identity.ts';
import { linkPeople, seePeople, unlinkPeople } from '../../src/profiles/profiles.ts';
import { connectTo, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { TRIAL } from '../support/recorded.ts';

const database = testDatabase();

const at = new Date('2026-03-01T00:00:00Z');

const see = (projectId: string, kind: 'anonymous' | 'external', ...values: string[]) =>
  inProject(database.deps, projectId, async (scope) => {
    const seen = values.map((value) => ({ kind, value, first_seen_at: at, last_seen_at: at }));
    const people = await identity.see(scope, seen);
    await seePeople(scope, people);
    return people;
  });

type Wish = { source?: 'identify' | 'alias'; key_type?: 'publishable' | 'server' };

const ask = (
  projectId: string,
  anonymous_id: string,
  external_id: string,
  { source = 'identify', key_type = 'publishable' }: Wish = {},
): Promise<LinkAnswer | null> =>
  inProject(database.deps, projectId, (scope) =>
    identity.link(scope, { anonymous_id, external_id, source, key_type }),
  );

const link = async (...wish: Parameters<typeof ask>): Promise<LinkAnswer> => {
  const answer = await ask(...wish);
  if (!answer) throw new Error('somebody is being erased');
  return answer;
};

const newPair = async () => {
  const projectId = newId();
  const [device] = await see(projectId, 'anonymous', 'device');
  const [ann] = await see(projectId, 'external', 'ann');
  return { projectId, device, ann };
};

const profileOf = async (projectId: string, kind: 'anonymous' | 'external', value: string) =>
  inProject(database.deps, projectId, async (scope) => {
    const known = await identity.findByValue(scope, kind, value);
    return known?.profile_id;
  });

test('a link moves the anonymous identity to the profile of the external one', async () => {
  const { projectId, ann, device } = await newPair();
  const { link: made, isNew } = await link(projectId, 'device', 'ann');
  expect(isNew).toBe(true);
  expect(made).toMatchObject({
    status: 'active',
    reason: null,
    profile_id: ann?.profile_id,
    anonymous_profile_id: device?.profile_id,
  });
  expect(await profileOf(projectId, 'anonymous', 'device')).toBe(ann?.profile_id);
});

test('the same link twice is one row', async () => {
  const { projectId } = await newPair();
  const first = await link(projectId, 'device', 'ann');
  const again = await link(projectId, 'device', 'ann');
  expect(again).toEqual({ link: first.link, isNew: false, replaced: null });
});

test('a linked identity is not moved; the refusal is logged once', async () => {
  const { projectId, ann } = await newPair();
  await see(projectId, 'external', 'bob');
  await link(projectId, 'device', 'ann');
  const refused = await link(projectId, 'device', 'bob');
  expect(refused).toMatchObject({
    isNew: true,
    link: { status: 'refused', reason: 'linked_to_another' },
  });
  expect(await link(projectId, 'device', 'bob')).toEqual({
    link: refused.link,
    isNew: false,
    replaced: null,
  });
  expect(await profileOf(projectId, 'anonymous', 'device')).toBe(ann?.profile_id);
});

test('what a person has undone a page cannot link again, a server can', async () => {
  const { projectId } = await newPair();
  const { link: made } = await link(projectId, 'device', 'ann');
  await inProject(database.deps, projectId, (scope) => unlinkPeople(scope, made.link_id, 'test'));
  expect(await link(projectId, 'device', 'ann')).toMatchObject({
    link: { status: 'refused', reason: 'undone_before' },
  });
  expect(await link(projectId, 'device', 'ann', { key_type: 'server' })).toMatchObject({
    isNew: true,
    link: { status: 'active' },
  });
});

test('two at once, to two people: one is linked, the other refused', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { projectId } = await newPair();
    await see(projectId, 'external', 'bob');
    const answers = await Promise.all([
      link(projectId, 'device', 'ann'),
      link(projectId, 'device', 'bob'),
    ]);
    expect(new Set(answers.map(({ link: { status } }) => status))).toEqual(
      new Set(['active', 'refused']),
    );
  }
});

test('many at once for the same pair make one link', async () => {
  const { projectId } = await newPair();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => link(projectId, 'device', 'ann')),
  );
  expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(new Set(answers.map(({ link: { link_id } }) => link_id)).size).toBe(1);
});

test('linking and undoing the same devices at once ends without a deadlock, as its log says', async () => {
  const projectId = newId();
  const devices = ['d1', 'd2', 'd3'];
  await see(projectId, 'anonymous', ...devices);
  await see(projectId, 'external', 'ann', 'bob');
  await Promise.all(
    Array.from({ length: 24 }, (_, round) =>
      inProject(database.deps, projectId, async (scope) => {
        const made = await linkPeople(scope, {
          anonymous_id: devices[round % 3] ?? '',
          external_id: round % 2 === 0 ? 'ann' : 'bob',
          source: 'alias',
          key_type: 'server',
        });
        if (round % 4 === 0) await unlinkPeople(scope, made?.link_id ?? '', 'test');
      }),
    ),
  );
  const { rows } = await database.owner.query(
    `select known.value, known.profile_id = coalesce(link.profile_id, known.own_profile_id) as agrees
    from identity.identities as known
    left join identity.links as link
      on link.project_id = known.project_id and link.anonymous_identity_id = known.identity_id
      and link.status = 'active'
    where known.project_id = $1 and known.kind = 'anonymous'`,
    [projectId],
  );
  expect(rows.map(({ agrees }) => agrees)).toEqual([true, true, true]);
});

test.each(['ann', 'device'])(
  'while %s is being erased nobody is linked, and nothing logged',
  async (erased) => {
    const { projectId } = await newPair();
    await see(projectId, 'external', 'bob');
    await link(projectId, 'device', 'bob', { key_type: 'server' });
    const kind = erased === 'ann' ? 'external' : 'anonymous';
    const { identity_id } = (await inProject(database.deps, projectId, (scope) =>
      identity.findByValue(scope, kind, erased),
    )) ?? { identity_id: '' };
    await inProject(database.deps, projectId, (scope) =>
      identity.markErased(scope, newId(), [identity_id]),
    );
    expect(await ask(projectId, 'device', 'ann', { key_type: 'server' })).toBeNull();
    // Also where the link is there already: nothing is told of it.
    if (kind === 'anonymous') expect(await ask(projectId, 'device', 'bob')).toBeNull();
    const { rows } = await database.owner.query(
      'select external_id from identity.links where project_id = $1',
      [projectId],
    );
    expect(rows).toEqual([{ external_id: 'bob' }]);
  },
);

test('whoever links waits for an erase that is being asked for, and is refused', async () => {
  const { projectId, ann } = await newPair();
  const asked = await connectTo(database, projectId);
  await asked.query('begin');
  await asked.query('select from identity.hold_person(project_id => $1, profile_id => $2)', [
    projectId,
    ann?.profile_id,
  ]);
  const linking = ask(projectId, 'device', 'ann');
  await untilWaiting(database);
  await asked.query(
    `update identity.identities set erasure_id = gen_random_uuid() where identity_id = $1 ${TRIAL}`,
    [ann?.identity_id],
  );
  await asked.query('commit');
  expect(await linking).toBeNull();
});
