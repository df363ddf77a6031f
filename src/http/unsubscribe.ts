import type Router from '@koa/router';
import type { RouterContext } from '@koa/router';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import type { Limit } from '../base/route.ts';
import * as feedback from '../feedback/feedback.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import { findProject } from '../projects/projects.ts';
import * as suppression from '../suppression/suppression.ts';
import type { UnsubscribeLink } from '../suppression/suppression.ts';
import { readBody } from './body.ts';
import { limitUnsubscribe } from './limit_requests.ts';
import { COME_BACK, renderUnsubscribePage, UNSUBSCRIBE_POLICY } from './unsubscribe_page.ts';
import type { UnsubscribePage } from './unsubscribe_page.ts';

/** Mail software and the page's buttons send a line; nobody sends more. */
export const UNSUBSCRIBE_BYTES_MAX = 4 * 1024;

export const unsubscribeLimits: readonly Limit[] = [
  {
    name: 'Body of an unsubscribe',
    value: UNSUBSCRIBE_BYTES_MAX,
    unit: 'bytes',
    where: 'body',
  },
];

type Asked = { link: UnsubscribeLink; sender: string };

/**
 * Returns what a token asks for; null for a token that is not ours, or of a project that is gone. Only our own
 * tokens reach the database, and RATE_LIMIT_UNSUBSCRIBE bounds how many an address sends.
 */
const findAsked = async (deps: Deps, ctx: RouterContext): Promise<Asked | null> => {
  const link = suppression.readUnsubscribeToken(deps.keys, ctx.params['token'] ?? '');
  if (!link) return null;
  limitUnsubscribe(deps, ctx);
  const project = await findProject(deps.db, link.projectId);
  return project ? { link, sender: project.name } : null;
};

/**
 * Does what a link asks for, tags whoever has its address, and puts an unsubscribe on their timeline: once,
 * however often it is asked. Those who are erased have no name here, only a key.
 */
const change = async (
  deps: Deps,
  { projectId, addressKey, sendId }: UnsubscribeLink,
  to: 'unsubscribed' | 'resubscribed',
): Promise<void> => {
  const isSeen = await inProject(deps, projectId, async (scope) => {
    const email = await suppression.readAddress(scope, addressKey);
    return profiles.changeAddresses(scope, email === null ? [] : [email], async (inner) => {
      const isNew = await suppression.changeByLink(inner, { projectId, addressKey, sendId }, to);
      if (!isNew || to === 'resubscribed') return false;
      await feedback.observeUnsubscribed(inner, { addressKey, email, sendId, by: 'link' });
      return true;
    });
  });
  if (isSeen) ingest.wake(deps, projectId);
};

/** Whether the page's own form asks to come back. Whatever else is posted unsubscribes: RFC 8058 knows two types. */
const asksToComeBack = (ctx: RouterContext, body: Buffer): boolean =>
  ctx.is('application/x-www-form-urlencoded') !== false &&
  new URLSearchParams(body.toString('latin1')).get(COME_BACK.name) === COME_BACK.value;

const show = (ctx: RouterContext, wanted: UnsubscribePage, asked: Asked | null): void => {
  const page = asked ? wanted : 'incomplete';
  ctx.set({
    'Content-Security-Policy': UNSUBSCRIBE_POLICY,
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex, nofollow',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  });
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = renderUnsubscribePage(page, asked?.sender ?? null);
};

/**
 * The page behind a mail's unsubscribe link. GET shows it and changes nothing, for scanners follow links;
 * POST does, without cookies or log-in. A token that is not ours is told to be incomplete, whatever it is: whom we
 * know nobody learns, as every token that is ours is answered alike.
 */
export const mountUnsubscribe = (router: Router, deps: Deps): void => {
  router.get('/u/:token', async (ctx) => {
    show(ctx, 'ask', await findAsked(deps, ctx));
  });
  router.post('/u/:token', async (ctx) => {
    const body = await readBody(ctx.req, UNSUBSCRIBE_BYTES_MAX);
    const asked = await findAsked(deps, ctx);
    const isBack = asksToComeBack(ctx, body);
    if (asked) await change(deps, asked.link, isBack ? 'resubscribed' : 'unsubscribed');
    show(ctx, isBack ? 'back' : 'left', asked);
  });
};
