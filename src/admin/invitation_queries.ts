import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db, Tx } from '../base/db.ts';
import { MEMBER_ROLES } from '../base/procedure.ts';

export const INVITED_ROLES = [...MEMBER_ROLES, 'admin'] as const;
export type InvitedRole = (typeof INVITED_ROLES)[number];

const Open = z.strictObject({
  invitation_id: z.uuid(),
  project_id: z.uuid().nullable(),
  project_name: z.string().nullable(),
  email: z.string(),
  role: z.enum(INVITED_ROLES),
  expires_at: z.date(),
});
export type OpenInvitation = z.output<typeof Open>;

const Listed = z.strictObject({
  invitation_id: z.uuid(),
  email: z.string(),
  role: z.enum(INVITED_ROLES),
  created_at: z.date(),
  expires_at: z.date(),
});

export type NewInvitation = {
  invitationId: string;
  /** Null is the installation. */
  projectId: string | null;
  email: string;
  role: InvitedRole;
  tokenHash: Buffer;
  invitedBy: string | null;
};

const ofPlace = (projectId: string | null) =>
  sql.fragment`project_id is not distinct from ${projectId}::uuid`;
const isOpen = sql.fragment`accepted_at is null and revoked_at is null`;

/** Takes back what the address was invited to before: one open invitation for each. */
export const revokeFormer = (tx: Tx, projectId: string | null, email: string) =>
  tx.query(sql.unsafe`
    update admin.invitations set revoked_at = now()
    where ${ofPlace(projectId)} and lower(email) = lower(${email}) and ${isOpen}
  `);

export const insertInvitation = (tx: Tx, invitation: NewInvitation, livesForDays: number) =>
  tx.query(sql.unsafe`
    insert into admin.invitations
      (invitation_id, project_id, email, role, token_hash, invited_by, created_at, expires_at)
    values (
      ${invitation.invitationId}, ${invitation.projectId}, ${invitation.email}, ${invitation.role},
      ${sql.binary(invitation.tokenHash)}, ${invitation.invitedBy},
      now(), now() + make_interval(days => ${livesForDays})
    )
  `);

/** The open invitations to a project, or to the installation, by address. */
export const listOpenInvitations = (tx: Pick<Db, 'any'>, projectId: string | null, limit: number) =>
  tx.any(sql.type(Listed)`
    select invitation_id, email, role, created_at, expires_at from admin.invitations
    where ${ofPlace(projectId)} and ${isOpen} and expires_at > now()
    order by lower(email)
    limit ${limit}
  `);

/** Answers whether there was one to take back. */
export const revokeOpen = async (
  tx: Tx,
  projectId: string | null,
  invitationId: string,
): Promise<boolean> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update admin.invitations set revoked_at = now()
    where invitation_id = ${invitationId} and ${ofPlace(projectId)} and ${isOpen}
  `);
  return rowCount > 0;
};

/** The invitation that a token opens: not used, not taken back, and not too old. */
export const findOpenInvitation = (db: Pick<Db, 'maybeOne'>, tokenHash: Buffer) =>
  db.maybeOne(sql.type(Open)`
    select invitation.invitation_id, invitation.project_id, project.name as project_name,
      invitation.email, invitation.role, invitation.expires_at
    from admin.invitations as invitation
    left join projects.projects as project on project.project_id = invitation.project_id
    where invitation.token_hash = ${sql.binary(tokenHash)}
    and invitation.accepted_at is null and invitation.revoked_at is null and invitation.expires_at > now()
  `);

/** Uses an invitation up; false where somebody was faster. */
export const useInvitation = async (tx: Tx, invitationId: string): Promise<boolean> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update admin.invitations set accepted_at = now()
    where invitation_id = ${invitationId} and ${isOpen} and expires_at > now()
  `);
  return rowCount > 0;
};
