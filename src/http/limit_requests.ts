import type { Context } from 'koa';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import { REFUSED_BYTES_PER_UNIT } from '../base/work_units.ts';
import type { Work } from '../base/work_units.ts';
import type { Key } from '../projects/projects.ts';
import { makeLimits, WINDOW_SECONDS } from './limits.ts';
import type { Limits, Sender, Standing } from './limits.ts';

const limitsOf = ({ config, resources }: Deps): Limits => resources.of(makeLimits, config);

type State = { standings?: Standing[]; isAddressCounted?: boolean };

const toSender = (ctx: Context, { caller, keyId }: Key): Sender => ({
  kind: caller.kind,
  keyId,
  address: ctx.ip,
  isAddressCounted: (ctx.state as State).isAddressCounted,
});

const toPolicy = ({ policy, quota }: Standing): string =>
  `"${policy}";q=${quota};w=${WINDOW_SECONDS}`;
const toState = ({ policy, remaining, resetSeconds }: Standing): string =>
  `"${policy}";r=${remaining};t=${resetSeconds}`;

const write = (ctx: Context, standings: readonly Standing[]): void => {
  if (standings.length === 0) return;
  ctx.set('RateLimit-Policy', standings.map(toPolicy).join(', '));
  ctx.set('RateLimit', standings.map(toState).join(', '));
};

/** Answers 429 for a limit that has no room. The headers name that limit alone. */
const refuse = (ctx: Context, standing: Standing): never => {
  write(ctx, [standing]);
  throw new Refusal('rate_limited', { retryAfterSeconds: standing.resetSeconds });
};

/**
 * Counts a request before its body is read, and writes where the limits stand in the header fields of
 * draft-ietf-httpapi-ratelimit-headers. Refuses the request when a limit has no room.
 */
export const limitRequest = (deps: Deps, ctx: Context, key: Key): void => {
  const standings = limitsOf(deps).takeRequest(toSender(ctx, key));
  const exceeded = standings.find(({ isExceeded }) => isExceeded);
  if (exceeded) refuse(ctx, exceeded);
  (ctx.state as State).standings = standings;
  write(ctx, standings);
};

/** Charges a parsed request for its work. Refuses it whole when a limit has no room for all of it. */
export const limitWork = (deps: Deps, ctx: Context, key: Key, work: readonly Work[]): void => {
  const charged = limitsOf(deps).chargeWork(toSender(ctx, key), work);
  switch (charged.kind) {
    case 'taken':
      return write(ctx, [...((ctx.state as State).standings ?? []), ...charged.standings]);
    case 'exceeded':
      return refuse(ctx, charged.standing);
    case 'too_costly':
      throw new Refusal('request_too_costly', {
        detail:
          `This request costs ${charged.units} units. One request may cost ${charged.unitsMax} units. ` +
          'Split it into smaller requests.',
      });
  }
};

/** Charges a request whose body the service read and refused. */
export const chargeRefusedBody = (deps: Deps, ctx: Context, key: Key, bytes: number): void => {
  const units = Math.max(1, Math.ceil(bytes / REFUSED_BYTES_PER_UNIT));
  limitsOf(deps).chargeRefused(toSender(ctx, key), units);
};

/** Counts a request that names its key only in its body, before that body is read: by its address. */
export const limitUnauthenticated = (deps: Deps, ctx: Context): void => {
  const exceeded = limitsOf(deps).takeAddress(ctx.ip);
  if (exceeded) refuse(ctx, exceeded);
  (ctx.state as State).isAddressCounted = true;
};

/**
 * Limits of one post to a webhook: `countAs` counts it before its body is read, `charge` charges its notices. The
 * sender is a project where the post proved itself by a token, and an address where it still has to.
 */
export const limitPost = (
  deps: Deps,
  ctx: Context,
): { countAs: (sender: string) => void; charge: (work: readonly Work[]) => void } => {
  const limits = limitsOf(deps);
  let post: Sender | null = null;
  return {
    countAs: (sender) => {
      post = { kind: 'hook', keyId: sender, address: ctx.ip };
      const exceeded = limits.takeRequest(post).find(({ isExceeded }) => isExceeded);
      if (exceeded) refuse(ctx, exceeded);
    },
    charge: (work) => {
      if (post === null) return;
      const charged = limits.chargeWork(post, work);
      if (charged.kind === 'exceeded') refuse(ctx, charged.standing);
      // A post holds a bounded number of events, and none may be lost: one that costs more than a window is taken.
      if (charged.kind === 'too_costly') limits.chargeRefused(post, charged.units);
    },
  };
};

/** Counts a visit of a page that needs no key, by its address. */
export const limitVisit = (deps: Deps, ctx: Context): void => {
  const exceeded = limitsOf(deps).takeVisit(ctx.ip);
  if (exceeded) refuse(ctx, exceeded);
};
