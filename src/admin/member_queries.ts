import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db, Scope, Tx } from '../base/db.ts';
import { MEMBER_ROLES } from '../base/procedure.ts';
import type { MemberRole } from '../base/procedure.ts';

const Role = z.strictObject({ role: z.enum(MEMBER_ROLES) });
const Member = z.strictObject({
  person_id: z.uuid(),
  email: z.string(),
  role: z.enum(MEMBER_ROLES),
  since: z.date(),
});
const Project = z.strictObject({
  project_id: z.uuid(),
  name: z.string(),
  role: z.enum(MEMBER_ROLES),
});
const Count = z.strictObject({ count: z.int() });

export const findMemberRole = (db: Pick<Db, 'maybeOne'>, projectId: string, personId: string) =>
  db.maybeOne(sql.type(Role)`
    select role from admin.members where project_id = ${projectId} and person_id = ${personId}
  `);

/** Lets nobody else change who is in a project until the transaction ends: the first lock that is taken. */
export const holdMembers = ({ tx, projectId }: Scope) =>
  tx.query(sql.unsafe`
    select from projects.projects where project_id = ${projectId} for no key update
  `);

export const listMembers = ({ tx, projectId }: Scope, limit: number) =>
  tx.any(sql.type(Member)`
    select member.person_id, person.email, member.role, member.since
    from admin.members as member
    join admin.people as person on person.person_id = member.person_id
    where member.project_id = ${projectId}
    order by lower(person.email)
    limit ${limit}
  `);

export const countOwners = ({ tx, projectId }: Scope) =>
  tx.one(sql.type(Count)`
    select count(*)::int as count from admin.members
    where project_id = ${projectId} and role = 'owner'
  `);

/** Members, and invitations that may still be used. */
export const countSeats = ({ tx, projectId }: Scope) =>
  tx.one(sql.type(Count)`
    select (
      (select count(*) from admin.members where project_id = ${projectId})
      + (
        select count(*) from admin.invitations
        where project_id = ${projectId} and accepted_at is null and revoked_at is null and expires_at > now()
      )
    )::int as count
  `);

/** Makes somebody a member, or raises them; nobody is lowered by what they were invited to. */
export const addMember = (
  tx: Tx,
  { projectId, personId, role }: { projectId: string; personId: string; role: MemberRole },
) =>
  tx.query(sql.unsafe`
    insert into admin.members as member (project_id, person_id, role, since)
    values (${projectId}, ${personId}, ${role}, now())
    on conflict (project_id, person_id) do update set role = excluded.role
    where array_position(array['viewer', 'editor', 'owner'], excluded.role)
      > array_position(array['viewer', 'editor', 'owner'], member.role)
  `);

export const setRole = ({ tx, projectId }: Scope, personId: string, role: MemberRole) =>
  tx.query(sql.unsafe`
    update admin.members set role = ${role}
    where project_id = ${projectId} and person_id = ${personId} and role <> ${role}
  `);

export const deleteMember = ({ tx, projectId }: Scope, personId: string) =>
  tx.query(sql.unsafe`
    delete from admin.members where project_id = ${projectId} and person_id = ${personId}
  `);

type Page = { limit: number; beforeId: string | null };

/** The projects of a person, the newest first: ids are time-ordered. */
export const listProjectsOf = (db: Db, personId: string, { limit, beforeId }: Page) => {
  const earlier = beforeId ? sql.fragment`and member.project_id < ${beforeId}` : sql.fragment``;
  return db.any(sql.type(Project)`
    select project.project_id, project.name, member.role
    from admin.members as member
    join projects.projects as project on project.project_id = member.project_id
    where member.person_id = ${personId} ${earlier}
    order by member.project_id desc
    limit ${limit}
  `);
};
