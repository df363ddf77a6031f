import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import { findHtml } from '../delivery/admin.ts';
import { readCookie } from './cookies.ts';
import { findRole } from './members.ts';
import { checkSite } from './own_origin.ts';
import { findPerson } from './sessions.ts';

const PATH = /^\/admin\/preview\/([^/]+)\/([^/]+)$/;

/**
 * A mail is a stranger's document: no script runs, nothing is sent, and no picture is loaded from elsewhere, which
 * would tell its sender that somebody looked. Only our own pages may frame it.
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

const read = async (deps: Deps, ctx: Context, projectId: string, sendId: string) => {
  const sessionToken = readCookie(deps.config.publicUrl, ctx.get('cookie'), 'session');
  checkSite(deps.config, ctx, { isReading: true, hasSession: sessionToken !== null });
  const person = await findPerson(deps, sessionToken, ctx.ip);
  if (!person) throw new Refusal('not_signed_in');
  const isNamed = z.uuid().safeParse(projectId).success && z.uuid().safeParse(sendId).success;
  if (!isNamed || (await findRole(deps, person, projectId)) === null)
    throw new Refusal('not_found');
  const html = await inProject(deps, projectId, (scope) => findHtml(scope, sendId));
  if (html === null) throw new Refusal('not_found');
  return html;
};

/** The HTML of a mail as its recipient got it, for a frame of the Console. */
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
