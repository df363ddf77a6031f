import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { EmailAddress } from '../base/email_address.ts';
import {
  MEMBER_ROLES,
  openProcedure,
  ownerProcedure,
  PASSWORD_CHARS_MAX,
  PasswordAgain,
  router,
} from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { listOpenInvitations, revokeOpen } from './invitation_queries.ts';
import { acceptInvitation, checkNewPassword, inviteMember, readInvitation } from './invitations.ts';
import { MEMBERS_MAX } from './members.ts';
import { openNew, RememberDevice, signInOf } from './session_procedures.ts';
import { attemptSignIn } from './throttle.ts';

const TOKEN_CHARS_MAX = 100;
const Token = z.strictObject({ token: z.string().min(1).max(TOKEN_CHARS_MAX) });
const Accepted = Token.extend({
  password: z.string().min(1).max(PASSWORD_CHARS_MAX),
  remember_device: RememberDevice,
});
const Invited = PasswordAgain.extend({ email: EmailAddress, role: z.enum(MEMBER_ROLES) });

type Row = Awaited<ReturnType<typeof listOpenInvitations>>[number];
export const showInvitation = ({ invitation_id, created_at, expires_at, ...shown }: Row) => ({
  id: invitation_id,
  ...shown,
  created_at: created_at.toISOString(),
  expires_at: expires_at.toISOString(),
});

export const invitationProcedures = router({
  /** The invitations to the project that may still be used. */
  list: ownerProcedure.query(({ ctx, input: { projectId } }) =>
    inProject(ctx.deps, projectId, async ({ tx }) => ({
      items: (await listOpenInvitations(tx, projectId, MEMBERS_MAX)).map(showInvitation),
    })),
  ),

  /** Answers the link, which is shown here and never again; the password again where an owner is invited. */
  invite: ownerProcedure
    .input(Invited)
    .mutation(async ({ ctx, input: { projectId, email, role, password } }) => {
      if (role === 'owner') await ctx.confirm(ctx.person, password);
      const invitedBy = ctx.person.person_id;
      return inProject(ctx.deps, projectId, (scope) =>
        inviteMember(scope, { email, role, invitedBy }),
      );
    }),

  revoke: ownerProcedure
    .input(z.object({ invitationId: z.uuid() }))
    .mutation(({ ctx, input: { projectId, invitationId } }) =>
      inProject(ctx.deps, projectId, async ({ tx }) => {
        if (!(await revokeOpen(tx, projectId, invitationId)))
          throw new Refusal('not_found', { detail: 'There is no such open invitation.' });
        return { id: invitationId };
      }),
    ),

  /** What a link leads to. Posted, though it reads only, so that no address bears the token. */
  open: openProcedure
    .input(Token)
    .mutation(({ ctx, input }) => readInvitation(ctx.deps, { ...input, address: ctx.address })),

  /** Accepts an invitation and signs the person in. */
  accept: openProcedure.input(Accepted).mutation(async ({ ctx, input }) => {
    const { email, is_known } = await readInvitation(ctx.deps, {
      token: input.token,
      address: ctx.address,
    });
    if (!is_known) checkNewPassword(input.password);
    const { token, password, remember_device: isRemembered } = input;
    const given = { token, password, address: ctx.address };
    const person = await attemptSignIn(ctx.deps, signInOf(ctx, email), () =>
      acceptInvitation(ctx.deps, given, ctx.requestId),
    );
    if (person === null) throw new Refusal('wrong_login');
    return openNew(ctx, { personId: person.person_id, email, isRemembered });
  }),
});
