import type { Middleware } from 'koa';
import type { Deps } from '../base/deps.ts';
import { findForwardedAddress } from '../base/forwarded.ts';

/** Load balancers request these paths themselves, so no proxy forwards them. */
const PROBES = new Set(['/healthz', '/readyz', '/metrics']);

const BROKEN_PROMISE =
  'TRUSTED_PROXIES promises more proxies than wrote X-Forwarded-For: such requests count under the address of the ' +
  'last proxy. Set it to the number of proxies in front, and have each append to X-Forwarded-For';

/**
 * Sets `ctx.ip`, which all limits count by: the address that the outermost trusted proxy names, else the one that is
 * connected. The log says once when proxies do not write what TRUSTED_PROXIES promises.
 */
export const readClientAddress = ({ config, log }: Pick<Deps, 'config' | 'log'>): Middleware => {
  const { trustedProxies } = config;
  let isWarned = false;
  return (ctx, next) => {
    const forwarded = findForwardedAddress(ctx.get('x-forwarded-for'), trustedProxies);
    if (trustedProxies > 0 && forwarded === null && !isWarned && !PROBES.has(ctx.path)) {
      isWarned = true;
      log.warn(BROKEN_PROMISE);
    }
    ctx.request.ip = forwarded ?? ctx.req.socket.remoteAddress ?? '';
    return next();
  };
};

/** Returns what an operator has to set behind https, or null: without it limits cannot tell visitors apart. */
export const findProxyWarning = ({ publicUrl, trustedProxies }: Deps['config']): string | null =>
  publicUrl.startsWith('https:') && trustedProxies === 0
    ? 'PUBLIC_URL is https, and TRUSTED_PROXIES is 0: X-Forwarded headers are ignored, and all visitors share the ' +
      "proxy's address, so that limits per address count them together. Set TRUSTED_PROXIES to the number of " +
      'reverse proxies in front'
    : null;
