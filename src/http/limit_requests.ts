import type { Context } from 'koa';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import type { Key } from '../projects/projects.ts';
import { makeLimits, WINDOW_SECONDS } from './limits.ts';
import type { Standing } from './limits.ts';

const toPolicy = ({ policy, quota }: Standing): string =>
  `"${policy}";q=${quota};w=${WINDOW_SECONDS}`;
const toState = ({ policy, remaining, resetSeconds }: Standing): string =>
  `"${policy}";r=${remaining};t=${resetSeconds}`;

/**
 * Counts a request against its limits and says where they stand, in the fields of
 * draft-ietf-httpapi-ratelimit-headers. Refuses what goes beyond one.
 */
export const limitRequest = async (
  { config, resources }: Deps,
  ctx: Context,
  { caller, keyId }: Key,
): Promise<void> => {
  const limits = resources.of(makeLimits, config);
  const standings = await limits.take({ kind: caller.kind, keyId, address: ctx.ip });
  if (standings.length === 0) return;
  ctx.set('RateLimit-Policy', standings.map(toPolicy).join(', '));
  ctx.set('RateLimit', standings.map(toState).join(', '));
  const exceeded = standings.find(({ isExceeded }) => isExceeded);
  if (exceeded) throw new Refusal('rate_limited', { retryAfterSeconds: exceeded.resetSeconds });
};

/** The same for what the body of a page's request names: one device is not many, wherever it posts from. */
export const limitDevices = async (
  { config, resources }: Deps,
  ctx: Context,
  { caller, keyId }: Key,
  anonymousIds: readonly string[],
): Promise<void> => {
  if (caller.kind !== 'publishable') return;
  const exceeded = await resources.of(makeLimits, config).takeDevices(keyId, anonymousIds);
  if (!exceeded) return;
  ctx.set('RateLimit-Policy', toPolicy(exceeded));
  ctx.set('RateLimit', toState(exceeded));
  throw new Refusal('rate_limited', { retryAfterSeconds: exceeded.resetSeconds });
};
