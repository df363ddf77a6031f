import { z } from 'zod';
import { inInstallation } from '../base/db.ts';
import { EmailAddress } from '../base/email_address.ts';
import { listInput, readCursor, toPage } from '../base/page.ts';
import { adminProcedure, PasswordAgain, router } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { showInvitation } from './invitation_procedures.ts';
import { listOpenInvitations, revokeOpen } from './invitation_queries.ts';
import { inviteAdministrator } from './invitations.ts';
import { MEMBERS_MAX } from './members.ts';
import { removePerson } from './people.ts';
import { listPeople } from './queries.ts';

/** The people of the installation, for its administrators. Each of their changes asks for the password again. */
export const peopleProcedures = router({
  /** Everybody who has an account, the newest first. */
  list: adminProcedure.input(listInput).query(async ({ ctx, input }) => {
    const beforeId = readCursor(z.tuple([z.uuid()]), input.cursor)?.[0] ?? null;
    const rows = await listPeople(ctx.deps.db, { limit: input.limit + 1, beforeId });
    return toPage(rows, input.limit, {
      item: ({ person_id, created_at, ...person }) => ({
        id: person_id,
        ...person,
        created_at: created_at.toISOString(),
        is_you: person_id === ctx.person.person_id,
      }),
      position: (row) => [row.person_id],
    });
  }),

  invitations: adminProcedure.query(async ({ ctx }) => ({
    items: (await listOpenInvitations(ctx.deps.db, null, MEMBERS_MAX)).map(showInvitation),
  })),

  /** Invites an administrator of the installation; answers the link, which is shown here and never again. */
  invite: adminProcedure
    .input(PasswordAgain.extend({ email: EmailAddress }))
    .mutation(async ({ ctx, input: { email, password } }) => {
      await ctx.confirm(ctx.person, password);
      return inviteAdministrator(ctx.deps, { email, invitedBy: ctx.person.person_id });
    }),

  revokeInvitation: adminProcedure
    .input(z.object({ invitationId: z.uuid() }))
    .mutation(({ ctx, input: { invitationId } }) =>
      inInstallation(ctx.deps, async (tx) => {
        if (!(await revokeOpen(tx, null, invitationId)))
          throw new Refusal('not_found', { detail: 'There is no such open invitation.' });
        return { id: invitationId };
      }),
    ),

  /** Removes an account with its sessions and memberships. What it did stays in the audit log, without its address. */
  remove: adminProcedure
    .input(PasswordAgain.extend({ personId: z.uuid() }))
    .mutation(async ({ ctx, input: { personId, password } }) => {
      await ctx.confirm(ctx.person, password);
      await removePerson(ctx.deps, personId);
      return { id: personId };
    }),
});
