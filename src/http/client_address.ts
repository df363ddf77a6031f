import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import type { Deps } from '../base/deps.ts';
import { findForwardedAddress, isAddressShared } from '../base/forwarded.ts';
import { toOrigin } from '../base/origin.ts';

/** Load balancers request these paths themselves, so no proxy forwards them. */
const PROBES = new Set(['/healthz', '/readyz', '/metrics']);

const sayTooFew = (trustedProxies: number): string =>
  `TRUSTED_PROXIES is ${trustedProxies}, but X-Forwarded-For of a request has fewer addresses. Limits count such ` +
  'requests under the address of the nearest proxy. Set TRUSTED_PROXIES to the number of reverse proxies in front, ' +
  'and configure each of them to append to X-Forwarded-For';

/** The address that the outermost trusted proxy names. Node joins a header that was sent several times. */
const forwardedOf = ({ headers }: IncomingMessage, trustedProxies: number): string | null =>
  findForwardedAddress(String(headers['x-forwarded-for'] ?? ''), trustedProxies);

/**
 * Sets `ctx.ip`, which all limits count by: the address that the outermost trusted proxy names, else the one that is
 * connected. Logs once that X-Forwarded-For has fewer addresses than TRUSTED_PROXIES.
 */
export const readClientAddress = ({ config, log }: Pick<Deps, 'config' | 'log'>): Middleware => {
  const { trustedProxies } = config;
  let isWarned = false;
  return (ctx, next) => {
    const forwarded = forwardedOf(ctx.req, trustedProxies);
    if (trustedProxies > 0 && forwarded === null && !isWarned && !PROBES.has(ctx.path)) {
      isWarned = true;
      log.warn(sayTooFew(trustedProxies));
    }
    ctx.request.ip = forwarded ?? ctx.req.socket.remoteAddress ?? '';
    return next();
  };
};

/** Returns what reads the origin of a request (base/origin.ts), by the same address, before it is handled. */
export const originReader =
  ({ config }: Pick<Deps, 'config'>) =>
  (request: IncomingMessage): string =>
    toOrigin(forwardedOf(request, config.trustedProxies) ?? request.socket.remoteAddress ?? '');

/** Returns what an operator has to set behind https, and what happens until then; or null. */
export const findProxyWarning = (config: Deps['config']): string | null =>
  isAddressShared(config)
    ? 'PUBLIC_URL is https and TRUSTED_PROXIES is 0, so all visitors share the address of the reverse proxy. ' +
      'RATE_LIMIT_ADDRESS, RATE_LIMIT_UNSUBSCRIBE and UNIT_LIMIT_ADDRESS count all visitors together. ' +
      'RATE_LIMIT_UNKNOWN_KEYS and the share of an address in daily quotas do not apply. One visitor who floods the ' +
      'service with unknown keys can make it refuse keys and sessions that this process has not seen yet. ' +
      'Set TRUSTED_PROXIES to the number of reverse proxies in front'
    : null;
