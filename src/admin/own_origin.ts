import type { Context } from 'koa';
import { findForwardedHost } from '../base/forwarded.ts';
import { isLoopbackHost, LOOPBACK_NAMES, parseHost } from '../base/loopback.ts';
import type { Host } from '../base/loopback.ts';
import { Refusal } from '../base/refusal.ts';
import type { Config } from '../config.ts';

type PublicAddress = Pick<Config, 'publicUrl' | 'isPublicUrlSet'>;
type Proxied = PublicAddress & Pick<Config, 'trustedProxies'>;

/** Browsers take these for two origins; people take them for one. */
const areLoopbackNames = (...hostnames: string[]): boolean =>
  hostnames.every((hostname) => (LOOPBACK_NAMES as readonly string[]).includes(hostname));

/**
 * Whether people may open the Console at this host. With PUBLIC_URL: at its host and port alone, where a loopback name
 * stands for the others. Without: on this machine, at any port that leads here, and at the address of HOST.
 */
const isOwnHost = ({ publicUrl, isPublicUrlSet }: PublicAddress, host: Host): boolean => {
  const own = new URL(publicUrl);
  if (!isPublicUrlSet) return isLoopbackHost(host.hostname) || host.hostname === own.hostname;
  const isSameName =
    host.hostname === own.hostname || areLoopbackNames(host.hostname, own.hostname);
  return isSameName && host.port === own.port;
};

/** Returns the origin of the Console that a Host header names, or null for a foreign host. */
export const findOwnOrigin = (config: PublicAddress, hostHeader: string): string | null => {
  const protocol = config.publicUrl.startsWith('https:') ? 'https:' : 'http:';
  const host = parseHost(hostHeader, protocol);
  if (!host || !isOwnHost(config, host)) return null;
  return `${protocol}//${host.hostname}${host.port === '' ? '' : `:${host.port}`}`;
};

/** Returns the origin of the Console that a request was sent to, or null for a foreign host. */
export const ownOriginOf = (config: Proxied, ctx: Context): string | null => {
  // Node keeps the first of several Host headers, and a proxy may have looked at the last.
  if ((ctx.req.headersDistinct['host']?.length ?? 0) > 1) return null;
  const forwarded = findForwardedHost(ctx.get('x-forwarded-host'), config.trustedProxies);
  return findOwnOrigin(config, forwarded ?? ctx.get('host'));
};

/** Refuses a request to a foreign host: an attacker can point a name of their own at this server (DNS rebinding). */
export const foreignHost = ({ publicUrl, isPublicUrlSet }: PublicAddress): Refusal =>
  new Refusal('foreign_host', {
    detail: isPublicUrlSet
      ? `The Console is at ${new URL(publicUrl).origin}. Open it there, or set PUBLIC_URL to the address that people \
use. A reverse proxy must pass the Host header.`
      : 'Without PUBLIC_URL the Console answers only on its own machine. Set it to the address that people use.',
  });

const foreignOrigin = ({ publicUrl, isPublicUrlSet }: PublicAddress): Refusal =>
  new Refusal('foreign_origin', {
    detail: isPublicUrlSet
      ? `Only pages of ${new URL(publicUrl).origin} may do this. Open the Console there, or correct PUBLIC_URL.`
      : 'Only pages of this installation may do this. Set PUBLIC_URL to the address in the address bar.',
  });

export type CallerSite = { isReading: boolean; hasSession: boolean };

/**
 * Refuses a call that a page of another origin made, or may have made. Browsers send `Origin` with every change, and
 * `Sec-Fetch-Site` with everything on a secure connection. Programs send neither header, and no cookie. A change with a
 * session and without both headers is refused, except a GET, which a SameSite cookie protects.
 */
export const checkSite = (config: Proxied, ctx: Context, call: CallerSite): void => {
  const own = ownOriginOf(config, ctx);
  if (own === null) throw foreignHost(config);
  const [origin, site] = [ctx.get('origin'), ctx.get('sec-fetch-site')];
  const isForeign =
    (origin !== '' && origin !== own) || (site !== '' && site !== 'same-origin' && site !== 'none');
  if (isForeign) throw foreignOrigin(config);
  const isProven = origin !== '' || site === 'same-origin' || (site === '' && ctx.method === 'GET');
  if (!call.isReading && call.hasSession && !isProven) throw foreignOrigin(config);
};
