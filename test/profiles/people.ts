import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { see } from '../../src/identity/identity.ts';
import { changeTraits, findRow, seePeople } from '../../src/profiles/profiles.ts';
import type { TraitChange } from '../../src/profiles/profiles.ts';
import type { TestDatabase } from '../support/database.ts';

export type Someone = { projectId: string; identityId: string; profileId: string };

/** A person that was just seen, with an empty profile. */
export const newPerson = async (database: TestDatabase, projectId = newId()): Promise<Someone> =>
  inProject(database.deps, projectId, async (scope) => {
    const at = new Date('2026-01-31T12:00:00Z');
    const people = await see(scope, [
      { kind: 'external', value: newId(), first_seen_at: at, last_seen_at: at },
    ]);
    await seePeople(scope, people);
    const [person] = people;
    if (!person) throw new Error('nobody was seen');
    return { projectId, identityId: person.identity_id, profileId: person.profile_id };
  });

/** A second identity of the same profile, as a link makes it. */
export const withSecondIdentity = async (
  database: TestDatabase,
  { projectId, profileId }: Someone,
): Promise<Someone> => {
  const { identityId } = await newPerson(database, projectId);
  await database.owner.query(
    'update identity.identities set profile_id = $1 where identity_id = $2',
    [profileId, identityId],
  );
  return { projectId, profileId, identityId };
};

export const tell = (
  database: TestDatabase,
  { projectId, identityId }: Someone,
  change: Partial<TraitChange>,
) =>
  inProject(database.deps, projectId, (scope) =>
    changeTraits(scope, {
      identityId,
      traits: {},
      setAt: new Date('2026-01-31T12:00:00Z'),
      authority: 'server',
      ...change,
    }),
  );

export const profileOf = async (database: TestDatabase, { projectId, profileId }: Someone) => {
  const row = await inProject(database.deps, projectId, (scope) => findRow(scope, profileId));
  if (!row) throw new Error('no such profile');
  return row;
};
