import { z } from 'zod';
import { adminProcedure, PasswordAgain, personProcedure, router } from '../base/procedure.ts';
import { readSending } from '../base/sending.ts';
import { FAILOVERS, OVERDUE, resume } from '../delivery/delivery.ts';

const Resuming = PasswordAgain.extend({
  overdue: z.enum(OVERDUE).default('skip'),
  failover: z.enum(FAILOVERS).nullable().default(null),
});

/** What is true of the whole installation, and may be changed by its administrators. */
export const installationProcedures = router({
  /** Whether mail leaves the house, and if not: why, and since when (not known until a worker has looked). */
  sending: personProcedure.query(async ({ ctx }) => {
    const { is_held, is_elsewhere, held_at } = await readSending(ctx.deps.db);
    const why = is_elsewhere ? ('restored' as const) : ('by_hand' as const);
    return {
      is_held,
      why: is_held ? why : null,
      held_at: is_held && held_at ? held_at.toISOString() : null,
    };
  }),

  /** The same as `make resume-sending`: from its answer on everything may go out. */
  resumeSending: adminProcedure
    .input(Resuming)
    .mutation(async ({ ctx, input: { password, ...resuming } }) => {
      await ctx.confirm(ctx.person, password);
      return resume(ctx.deps, resuming);
    }),
});
