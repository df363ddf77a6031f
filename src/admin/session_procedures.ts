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

/**
 * Whether the client keeps the device cookie. One that keeps none must not ask for it: each of its sign-ins would take
 * the place of a browser.
 */
export const RememberDevice = z.boolean().default(false);

/** Any text that could be a login. The answer never says which part is wrong. */
const LoginInput = z.strictObject({
  email: z.string().min(1).max(EMAIL_CHARS_MAX),
  password: z.string().min(1).max(PASSWORD_CHARS_MAX),
  remember_device: RememberDevice,
});

type SignedIn = { personId: string; email: string; isRemembered: boolean };

/**
 * Opens a session in place of the one that the client had. Returns the proof of the session, which no cookie holds.
 * Where the client asked for it, its browser is a known device from now on.
 */
export const openNew = async (
  ctx: ProcedureContext,
  { personId, email, isRemembered }: SignedIn,
): Promise<{ signed_in: true; proof: string }> => {
  if (ctx.sessionToken !== null) await closeSession(ctx.deps, ctx.sessionToken);
  const device = isRemembered
    ? await rememberDevice(ctx.deps, { personId, email }, ctx.deviceCookie)
    : null;
  const { token, proof } = await openSession(ctx.deps, personId, device?.deviceId);
  ctx.keepSession(token);
  if (device) ctx.keepDevice(device.cookie);
  return { signed_in: true, proof };
};

/** Returns who signs in from where, as the limits count it. */
export const signInOf = ({ address, deviceCookie }: ProcedureContext, email: string) => ({
  email,
  address,
  deviceCookie,
});

export const sessionProcedures = router({
  signIn: openProcedure.input(LoginInput).mutation(async ({ ctx, input }) => {
    const personId = await attemptSignIn(ctx.deps, signInOf(ctx, input.email), () =>
      checkLogin(ctx.deps, input),
    );
    if (personId === null) throw new Refusal('wrong_login');
    const { email, remember_device: isRemembered } = input;
    return openNew(ctx, { personId, email, isRemembered });
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
