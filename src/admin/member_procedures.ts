import { z } from 'zod';
import { inProject } from '../base/db.ts';
import {
  MEMBER_ROLES,
  ownerProcedure,
  PasswordAgain,
  personProcedure,
  projectProcedure,
  router,
} from '../base/procedure.ts';
import { changeRole, readMembers, removeMember } from './members.ts';

const OfMember = PasswordAgain.extend({ personId: z.uuid() });

export const memberProcedures = router({
  /** Who is in the project, by address. */
  list: projectProcedure.query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, (scope) => readMembers(scope, ctx.person)),
  ),

  /** Gives a member another role; the password again where an owner is made or unmade. */
  changeRole: ownerProcedure
    .input(OfMember.extend({ role: z.enum(MEMBER_ROLES) }))
    .mutation(async ({ ctx, input: { projectId, personId, role, password } }) => {
      const confirm = () => ctx.confirm(ctx.person, password);
      await changeRole(ctx.deps, { projectId, personId, confirm }, role);
      return { id: personId, role };
    }),

  /** The password again where it is an owner. */
  remove: ownerProcedure
    .input(OfMember)
    .mutation(async ({ ctx, input: { projectId, personId, password } }) => {
      const confirm = () => ctx.confirm(ctx.person, password);
      await removeMember(ctx.deps, { projectId, personId, confirm });
      return { id: personId };
    }),

  /** Ends one's own membership: everybody may do that, but for the last owner. */
  leave: personProcedure
    .input(PasswordAgain.extend({ projectId: z.uuid() }))
    .mutation(async ({ ctx, input: { projectId, password } }) => {
      const personId = ctx.person.person_id;
      const confirm = () => ctx.confirm(ctx.person, password);
      await removeMember(ctx.deps, { projectId, personId, confirm });
      return { id: personId };
    }),
});
