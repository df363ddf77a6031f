import { z } from 'zod';
import { inInstallation } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { PASSWORD_CHARS_MAX, personProcedure, router } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { hashPassword, Password } from './password.ts';
import { setPassword } from './queries.ts';
import { deleteSessionOf, listSessions, signOutElsewhere } from './session_queries.ts';
import { sessionHashOf } from './sessions.ts';

/** How many sessions of a person are listed, the last used first. */
export const SESSIONS_SHOWN_MAX = 50;

const NewPassword = z.strictObject({
  old_password: z.string().min(1).max(PASSWORD_CHARS_MAX),
  new_password: Password,
});

type Call = { deps: Deps; sessionToken: string | null };
const sessionOf = ({ deps, sessionToken }: Call): Buffer => sessionHashOf(deps, sessionToken ?? '');

/** What people may do with their own account. */
export const accountProcedures = router({
  sessions: personProcedure.query(async ({ ctx }) => {
    const currentHash = sessionOf(ctx);
    const personId = ctx.person.person_id;
    const rows = await listSessions(ctx.deps.db, {
      personId,
      currentHash,
      limit: SESSIONS_SHOWN_MAX,
    });
    return {
      items: rows.map(({ session_id, created_at, last_seen_at, expires_at, is_current }) => ({
        id: session_id,
        created_at: created_at.toISOString(),
        last_seen_at: last_seen_at.toISOString(),
        expires_at: expires_at.toISOString(),
        is_current,
      })),
    };
  }),

  /** Ends one of the person's sessions. Its browser is unknown then. */
  endSession: personProcedure
    .input(z.strictObject({ sessionId: z.uuid() }))
    .mutation(async ({ ctx, input }) => {
      const isEnded = await inInstallation(ctx.deps, (tx) =>
        deleteSessionOf(tx, ctx.person.person_id, input.sessionId),
      );
      if (!isEnded) throw new Refusal('not_found', { detail: 'There is no such session.' });
      return { id: input.sessionId };
    }),

  /** Ends all sessions except the one of this call. Browsers that signed in before are unknown then. */
  endOtherSessions: personProcedure.mutation(async ({ ctx }) => {
    const ended = await inInstallation(ctx.deps, (tx) =>
      signOutElsewhere(tx, ctx.person.person_id, sessionOf(ctx)),
    );
    return { ended };
  }),

  /** Changes the password. The other sessions end, and the other browsers are unknown then. */
  changePassword: personProcedure.input(NewPassword).mutation(async ({ ctx, input }) => {
    await ctx.confirm(ctx.person, input.old_password);
    const passwordHash = await hashPassword(input.new_password);
    await inInstallation(ctx.deps, (tx) =>
      setPassword(tx, ctx.person.person_id, { passwordHash, keptSession: sessionOf(ctx) }),
    );
    return { changed: true };
  }),
});
