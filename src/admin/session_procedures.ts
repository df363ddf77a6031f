import { z } from 'zod';
import { EMAIL_CHARS_MAX } from '../base/email_address.ts';
import { openProcedure, personProcedure, router } from '../base/procedure.ts';
import type { ProcedureContext } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { rememberDevice } from './devices.ts';
import { PASSWORD_CHARS_MAX } from './password.ts';
import { checkLogin } from './people.ts';
import { closeSession, openSession } from './sessions.ts';
import { attemptSignIn } from './throttle.ts';

/** Any text that could be a login. What is wrong with it is never said. */
const LoginInput = z.strictObject({
  email: z.string().min(1).max(EMAIL_CHARS_MAX),
  password: z.string().min(1).max(PASSWORD_CHARS_MAX),
});

/** Opens a session in place of the one that the browser had, and makes the browser a known device. */
export const openNew = async (ctx: ProcedureContext, personId: string): Promise<void> => {
  if (ctx.sessionToken !== null) await closeSession(ctx.deps, ctx.sessionToken);
  ctx.keepSession(await openSession(ctx.deps, personId));
  ctx.keepDevice(await rememberDevice(ctx.deps, personId, ctx.deviceToken));
};

/** Who signs in from where, as the limits count it. */
export const signInOf = ({ address, deviceToken }: ProcedureContext, email: string) => ({
  email,
  address,
  deviceToken,
});

export const sessionProcedures = router({
  signIn: openProcedure.input(LoginInput).mutation(async ({ ctx, input }) => {
    const personId = await attemptSignIn(ctx.deps, signInOf(ctx, input.email), () =>
      checkLogin(ctx.deps, input),
    );
    if (personId === null) throw new Refusal('wrong_login');
    await openNew(ctx, personId);
    return { signed_in: true };
  }),

  signOut: personProcedure.mutation(async ({ ctx }) => {
    if (ctx.sessionToken !== null) await closeSession(ctx.deps, ctx.sessionToken);
    ctx.keepSession(null);
    return { signed_in: false };
  }),

  /** Who is signed in, or nobody. */
  current: openProcedure.query(async ({ ctx }) => {
    const person = await ctx.findPerson();
    return { person: person && { email: person.email, is_admin: person.is_admin } };
  }),
});
