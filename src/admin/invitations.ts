import { withAudit } from '../base/audit.ts';
import { inInstallation, inProject } from '../base/db.ts';
import type { Scope, Tx } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { isIssued, issueToken } from '../base/issued_tokens.ts';
import type { MemberRole, Person } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { tokenLookupsOf } from '../base/token_lookups.ts';
import {
  findOpenInvitation,
  insertInvitation,
  listOpenInvitations,
  revokeFormer,
  useInvitation,
} from './invitation_queries.ts';
import type { InvitedRole, OpenInvitation } from './invitation_queries.ts';
import { addMember } from './member_queries.ts';
import { holdSeat, MEMBERS_MAX } from './members.ts';
import { hashPassword, Password } from './password.ts';
import { checkLogin } from './people.ts';
import { findByEmail, insertPerson, isMemberAlready, setAdmin } from './queries.ts';

/** An invitation that nobody used by then is over. */
export const INVITATION_DAYS = 7;
const TOKEN_SHAPE = /^[\w-]{43}$/;

/** Where a link leads. The token is behind the #, so that it is in no request, log or referrer. */
export const INVITATION_PATH = '/console/invitation';

const GONE =
  'This invitation is over: used, taken back, or older than 7 days. Ask for another one.';

const JUST_MADE = 'An account of this address was made just now. Open the link again, and sign in.';

export type NewInvitation = {
  email: string;
  role: InvitedRole;
  invitedBy: string | null;
};

/** Writes an invitation down; answers what is shown once. The only place that knows its token. */
const insert = async (
  { keys }: Pick<Deps, 'keys'>,
  tx: Tx,
  invited: NewInvitation & { projectId: string | null },
): Promise<{ id: string; path: string }> => {
  const token = issueToken(keys, 'invitation');
  const invitationId = newId();
  const tokenHash = keys.hash('invitation', token);
  await revokeFormer(tx, invited.projectId, invited.email);
  await insertInvitation(tx, { ...invited, invitationId, tokenHash }, INVITATION_DAYS);
  return { id: invitationId, path: `${INVITATION_PATH}#${token}` };
};

/** Invites an address to the project of a scope. An open invitation of the same address is replaced. */
export const inviteMember = async (
  scope: Scope,
  invited: NewInvitation & { role: MemberRole },
): Promise<{ id: string; path: string }> => {
  const { tx, projectId } = scope;
  await holdSeat(scope);
  if (await isMemberAlready(tx, projectId, invited.email)) throw new Refusal('already_member');
  return insert(scope, tx, { ...invited, projectId });
};

/** Invites an address to be an administrator of the installation. */
export const inviteAdministrator = async (
  deps: Deps,
  invited: Omit<NewInvitation, 'role'>,
): Promise<{ id: string; path: string }> =>
  inInstallation(deps, async (tx) => {
    if (await isMemberAlready(tx, null, invited.email)) throw new Refusal('already_member');
    const open = await listOpenInvitations(tx, null, MEMBERS_MAX);
    if (open.length >= MEMBERS_MAX) throw new Refusal('too_many_people');
    return insert(deps, tx, { ...invited, role: 'admin', projectId: null });
  });

/**
 * Finds an open invitation. An address that sends too many made-up tokens is refused before the database is asked;
 * invitations from before tokens had tags are looked up like those.
 */
const find = async (
  deps: Deps,
  { token, address }: { token: string; address: string },
): Promise<OpenInvitation> => {
  const tokenHash = deps.keys.hash('invitation', token);
  const digest = tokenHash.toString('base64');
  const lookup = { digest, address, isIssued: isIssued(deps.keys, 'invitation', token) };
  const found =
    TOKEN_SHAPE.test(token) &&
    (await tokenLookupsOf(deps).find({ kind: 'invitation', ...lookup }, () =>
      findOpenInvitation(deps.db, tokenHash),
    ));
  if (!found) throw new Refusal('not_found', { detail: GONE });
  return found;
};

/** What a token opens, for the page that asks for a password. */
export const readInvitation = async (deps: Deps, given: { token: string; address: string }) => {
  const { email, role, project_name, expires_at } = await find(deps, given);
  return {
    email,
    role,
    project: project_name,
    expires_at: expires_at.toISOString(),
    /** Whoever has an account signs in with its password; others choose one. */
    is_known: (await findByEmail(deps.db, email.toLowerCase())) !== null,
  };
};

/** The account of an invited address: the one that is there, if the password is its own, or a new one. */
const toAccount = async (
  deps: Deps,
  email: string,
  password: string,
): Promise<{ personId: string; passwordHash: string | null } | null> => {
  if (await findByEmail(deps.db, email.toLowerCase())) {
    const personId = await checkLogin(deps, { email, password });
    return personId === null ? null : { personId, passwordHash: null };
  }
  return { personId: newId(), passwordHash: await hashPassword(password) };
};

/** Refuses what no account may have, before anything is counted as an attempt. */
export const checkNewPassword = (password: string): void => {
  const checked = Password.safeParse(password);
  if (checked.success) return;
  const issues = checked.error.issues.map(({ message }) => ({ path: '/password', message }));
  throw new Refusal('invalid_request', { issues });
};

const letIn = async (
  tx: Tx,
  { invitation_id, email, role, project_id }: OpenInvitation,
  { personId, passwordHash }: { personId: string; passwordHash: string | null },
): Promise<void> => {
  if (!(await useInvitation(tx, invitation_id))) throw new Refusal('not_found', { detail: GONE });
  if (passwordHash !== null) {
    const { rowCount } = await insertPerson(tx, { personId, email, passwordHash, isAdmin: false });
    // Another invitation of theirs was used at the same moment: they have an account by now.
    if (rowCount === 0) throw new Refusal('already_member', { detail: JUST_MADE });
  }
  if (role === 'admin') await setAdmin(tx, personId);
  else if (project_id !== null) await addMember(tx, { projectId: project_id, personId, role });
};

/**
 * Uses an invitation: whoever has its token is in, with the account that the address has or with a new one. Answers
 * the person, or null where the password is not the account's.
 */
export const acceptInvitation = async (
  deps: Deps,
  { password, ...given }: { token: string; address: string; password: string },
  requestId: string,
): Promise<Pick<Person, 'person_id'> | null> => {
  const invitation = await find(deps, given);
  const account = await toAccount(deps, invitation.email, password);
  if (account === null) return null;
  const audited = withAudit(deps, {
    actor: { kind: 'person', id: account.personId },
    action: 'invitations.accept',
    targets: { invitation_id: invitation.invitation_id },
    requestId,
  });
  const { project_id } = invitation;
  if (project_id === null) await inInstallation(audited, (tx) => letIn(tx, invitation, account));
  else await inProject(audited, project_id, ({ tx }) => letIn(tx, invitation, account));
  return { person_id: account.personId };
};
