import type { Context } from 'koa';
import type { Deps } from '../base/deps.ts';
import { toOrigin } from '../base/origin.ts';
import { Refusal } from '../base/refusal.ts';
import type { PostSender } from '../base/route.ts';
import { BYTES_PER_UNIT } from '../base/work_units.ts';
import type { Work } from '../base/work_units.ts';
import type { Key } from '../projects/projects.ts';
import { makeLimits, WINDOW_SECONDS } from './limits.ts';
import type { Limits, Paid, Sender, Standing } from './limits.ts';

const limitsOf = ({ config, resources }: Deps): Limits => resources.of(makeLimits, config);

type State = {
  /** Where the limits of requests stand, until header fields say so. */
  standings?: readonly Standing[];
  isAddressCounted?: boolean;
  paid?: Paid;
};

const toSender = (ctx: Context, { caller, keyId }: Key): Sender => ({
  kind: caller.kind,
  keyId,
  address: ctx.ip,
  isAddressCounted: (ctx.state as State).isAddressCounted,
  paid: (ctx.state as State).paid,
});

const toPolicy = ({ policy, quota }: Standing): string =>
  `"${policy}";q=${quota};w=${WINDOW_SECONDS}`;
const toState = ({ policy, remaining, resetSeconds }: Standing): string =>
  `"${policy}";r=${remaining};t=${resetSeconds}`;

const write = (ctx: Context, standings: readonly Standing[]): void => {
  delete (ctx.state as State).standings;
  if (standings.length === 0) return;
  ctx.set('RateLimit-Policy', standings.map(toPolicy).join(', '));
  ctx.set('RateLimit', standings.map(toState).join(', '));
};

/** Answers 429 for a limit that has no room. The headers name that limit alone. */
const refuse = (ctx: Context, standing: Standing): never => {
  write(ctx, [standing]);
  throw new Refusal('rate_limited', { retryAfterSeconds: standing.resetSeconds });
};

/** Counts a request before its body is read. Refuses the request when a limit has no room. */
export const limitRequest = (deps: Deps, ctx: Context, key: Key): void => {
  const standings = limitsOf(deps).takeRequest(toSender(ctx, key));
  const exceeded = standings.find(({ isExceeded }) => isExceeded);
  if (exceeded) refuse(ctx, exceeded);
  (ctx.state as State).standings = standings;
};

/**
 * Writes where the limits stand in the header fields of draft-ietf-httpapi-ratelimit-headers, unless `limitWork` did:
 * a request that another cause refused has them, too.
 */
export const writeLimits = (ctx: Context): void => {
  const { standings } = ctx.state as State;
  if (standings) write(ctx, standings);
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

const unitsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / BYTES_PER_UNIT));

/**
 * Charges a body by its size before it is parsed, and refuses it where a limit has no room: by its key, or by its
 * address while no key is known. A small body is not charged yet: its request costs a unit at least.
 */
export const limitBody = (deps: Deps, ctx: Context, key: Key | null, bytes: number): void => {
  const units = unitsOf(bytes);
  if (units === 1) return;
  const limits = limitsOf(deps);
  const exceeded = key
    ? limits.chargeBody(toSender(ctx, key), units)
    : limits.chargeBodyOfAddress(ctx.ip, units);
  if (exceeded) refuse(ctx, exceeded);
  (ctx.state as State).paid = { address: units, key: key ? units : 0 };
};

/** Charges a request whose body the service read and refused: by its address while no key is known. */
export const chargeRefusedBody = (
  deps: Deps,
  ctx: Context,
  key: Key | null,
  bytes: number,
): void => {
  const limits = limitsOf(deps);
  if (key) limits.chargeRefused(toSender(ctx, key), unitsOf(bytes));
  else limits.chargeRefusedOfAddress(ctx.ip, unitsOf(bytes));
};

/**
 * Counts a request that names its key only in its body, before that body is read: by its address. One without units
 * left is refused here, too.
 */
export const limitUnauthenticated = (deps: Deps, ctx: Context): void => {
  const limits = limitsOf(deps);
  const exceeded = limits.takeAddress(ctx.ip) ?? limits.findSpent(ctx.ip);
  if (exceeded) refuse(ctx, exceeded);
  (ctx.state as State).isAddressCounted = true;
};

/** The limits of one post to a webhook. */
export type PostLimits = {
  /** Counts the post before its body is read. */
  countAs: (sender: PostSender) => void;
  /** Charges its body before it is parsed: a stranger's by its address. */
  chargeBody: (bytes: number) => void;
  /** Charges its notices. */
  charge: (work: readonly Work[]) => void;
};

/**
 * Limits a post to a webhook. The sender is a project where the post proved itself by a token. Else it is a project and
 * an address.
 */
export const limitPost = (deps: Deps, ctx: Context): PostLimits => {
  const limits = limitsOf(deps);
  let post: Sender | null = null;
  let isProven = false;
  return {
    countAs: (sender) => {
      ({ isProven } = sender);
      const { projectId } = sender;
      const keyId = isProven ? projectId : `${projectId} ${toOrigin(ctx.ip)}`;
      post = { kind: 'hook', keyId, address: ctx.ip };
      const exceeded = limits.takeRequest(post).find(({ isExceeded }) => isExceeded);
      if (exceeded) refuse(ctx, exceeded);
    },
    chargeBody: (bytes) => {
      const units = unitsOf(bytes);
      if (post === null || units === 1) return;
      const exceeded = isProven
        ? limits.chargeBody(post, units)
        : limits.chargeBodyOfAddress(ctx.ip, units);
      if (exceeded) refuse(ctx, exceeded);
      if (isProven) post = { ...post, paid: { address: 0, key: units } };
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

/** Counts a request for an unsubscribe link, by its address. */
export const limitUnsubscribe = (deps: Deps, ctx: Context): void => {
  const exceeded = limitsOf(deps).takeUnsubscribe(ctx.ip);
  if (exceeded) refuse(ctx, exceeded);
};
