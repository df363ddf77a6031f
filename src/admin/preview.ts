import type { Context, Middleware } from 'koa';

import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { isIssued } from '../base/issued_tokens.ts';
import { projectProcedure, router } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { findHtml } from '../delivery/admin.ts';
import { readCookie } from './cookies.ts';
import { findRole } from './members.ts';
import { checkSite } from './own_origin.ts';
import { findPerson } from './sessions.ts';
import { isSameSecret } from '../base/same_secret.ts';

const PATH = /^\/admin\/preview\/([^/]+)\/([^/]+)$/;
/** How long the address of a preview works. */
export const PREVIEW_SECONDS = 300;

// A frame sends cookies and no header, so a ticket in its address stands for the proof of the session: for one send and
// a few minutes, and only beside the cookie.

type Previewed = { token: string; projectId: string; sendId: string };

/** Returns the ticket of a preview: when it ends, in seconds since 1970, and a keyed MAC. */
const makeTicket = (
  { keys }: Pick<Deps, 'keys'>,
  { token, projectId, sendId }: Previewed,
  until: number,
): string => {
  const mac = keys.hash('preview-ticket', [token, projectId, sendId, until].join(' '));
  return `${until}.${mac.toString('base64url')}`;
};

const isTicket = (deps: Pick<Deps, 'keys'>, previewed: Previewed, ticket: string): boolean => {
  const until = Number.parseInt(ticket, 10);
  if (!(until > Date.now() / 1_000)) return false;
  return isSameSecret(makeTicket(deps, previewed, until), ticket);
};

export const previewProcedures = router({
  /** Returns the address of an email's HTML, for a frame: it works in this session alone, for five minutes. */
  open: projectProcedure
    .input(z.object({ sendId: z.uuid() }))
    .query(({ ctx, input: { projectId, sendId } }) => {
      const until = Math.floor(Date.now() / 1_000) + PREVIEW_SECONDS;
      const previewed = { token: ctx.sessionToken ?? '', projectId, sendId };
      const ticket = makeTicket(ctx.deps, previewed, until);
      return { path: `/admin/preview/${projectId}/${sendId}?ticket=${ticket}` };
    }),
});

/**
 * An email is a stranger's document: no script runs, nothing is sent, and no picture is loaded from elsewhere, which
 * would show its sender that a person opened it. Only our own pages may frame it.
 */
const POLICY = [
  'sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** Returns the token of the session that the ticket of this address was made in; null for every other. */
const readTicketed = (deps: Deps, ctx: Context, of: Omit<Previewed, 'token'>): string | null => {
  const token = readCookie(deps.config.publicUrl, ctx.get('cookie'), 'session');
  checkSite(deps.config, ctx, { isReading: true, hasSession: token !== null });
  if (token === null || !isIssued(deps.keys, 'session', token)) return null;
  const ticket = new URLSearchParams(ctx.querystring).get('ticket') ?? '';
  return isTicket(deps, { token, ...of }, ticket) ? token : null;
};

const read = async (deps: Deps, ctx: Context, projectId: string, sendId: string) => {
  const person = await findPerson(deps, readTicketed(deps, ctx, { projectId, sendId }), ctx.ip);
  if (!person) throw new Refusal('not_signed_in');
  if ((await findRole(deps, person, projectId)) === null) throw new Refusal('not_found');
  const html = await inProject(deps, projectId, (scope) => findHtml(scope, sendId));
  if (html === null) throw new Refusal('not_found');
  return html;
};

/** Serves the HTML of an email as its recipient got it, for a frame of the Console. */
export const previewDoor =
  (deps: Deps): Middleware =>
  async (ctx, next) => {
    const [, projectId, sendId] = PATH.exec(ctx.path) ?? [];
    if (projectId === undefined || sendId === undefined) return next();
    if (ctx.method !== 'GET') {
      ctx.set('Allow', 'GET');
      throw new Refusal('method_not_allowed');
    }
    const html = await read(deps, ctx, projectId, sendId);
    ctx.set('Content-Security-Policy', POLICY);
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.set('Cache-Control', 'no-store');
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = html;
  };
