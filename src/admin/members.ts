import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import type { MemberRole, Person } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { findProject } from '../projects/projects.ts';
import {
  countOwners,
  countSeats,
  deleteMember,
  findMemberRole,
  holdMembers,
  listMembers,
  setRole,
} from './member_queries.ts';

/** So many people, with those who are invited, may be in one project. */
export const MEMBERS_MAX = 200;

/** What somebody may do in a project, or null: an administrator all of it, in every project that there is. */
export const findRole = async (
  { db }: Pick<Deps, 'db'>,
  person: Person,
  projectId: string,
): Promise<MemberRole | null> => {
  if (person.is_admin) return (await findProject(db, projectId)) ? 'owner' : null;
  return (await findMemberRole(db, projectId, person.person_id))?.role ?? null;
};

export const readMembers = async (scope: Scope, asking: Person) => ({
  items: (await listMembers(scope, MEMBERS_MAX)).map(({ person_id, since, ...member }) => ({
    id: person_id,
    ...member,
    since: since.toISOString(),
    is_you: person_id === asking.person_id,
  })),
});

/** Refuses where there is no room for one more. Holds the members. */
export const holdSeat = async (scope: Scope): Promise<void> => {
  await holdMembers(scope);
  if ((await countSeats(scope)).count >= MEMBERS_MAX) throw new Refusal('too_many_people');
};

const getRole = async (scope: Scope, personId: string): Promise<MemberRole> => {
  await holdMembers(scope);
  const member = await findMemberRole(scope.tx, scope.projectId, personId);
  if (!member) throw new Refusal('not_found', { detail: 'There is no such member.' });
  return member.role;
};

/** Refuses unless another owner stays. */
const keepOwner = async (scope: Scope): Promise<void> => {
  if ((await countOwners(scope)).count <= 1) throw new Refusal('last_owner');
};

type Change = {
  projectId: string;
  personId: string;
  /** Asks the person who changes it for their password: before anything is locked. */
  confirm: () => Promise<void>;
};

/** Whoever takes or gives the role of an owner enters their password; who that is may change until it is held. */
const confirmForOwner = async (
  deps: Deps,
  { projectId, personId, confirm }: Change,
  role: MemberRole | null,
): Promise<boolean> => {
  const known = await findMemberRole(deps.db, projectId, personId);
  if (known?.role !== 'owner' && role !== 'owner') return false;
  await confirm();
  return true;
};

/** Gives a member another role. A project keeps an owner. */
export const changeRole = async (deps: Deps, change: Change, role: MemberRole): Promise<void> => {
  const isConfirmed = await confirmForOwner(deps, change, role);
  await inProject(deps, change.projectId, async (scope) => {
    const before = await getRole(scope, change.personId);
    if (before === 'owner' && !isConfirmed) throw new Refusal('password_needed');
    if (before === 'owner' && role !== 'owner') await keepOwner(scope);
    await setRole(scope, change.personId, role);
  });
};

/** Ends a membership. A project keeps an owner. */
export const removeMember = async (deps: Deps, change: Change): Promise<void> => {
  const isConfirmed = await confirmForOwner(deps, change, null);
  await inProject(deps, change.projectId, async (scope) => {
    const before = await getRole(scope, change.personId);
    if (before === 'owner' && !isConfirmed) throw new Refusal('password_needed');
    if (before === 'owner') await keepOwner(scope);
    await deleteMember(scope, change.personId);
  });
};
