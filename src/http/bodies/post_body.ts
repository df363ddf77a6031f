import type { RouterContext } from '@koa/router';
import { bodiesInHandOf, countValues, holdParsed } from '../../base/bodies/bodies.ts';
import type { HeldBody } from '../../base/bodies/bodies.ts';
import type { Deps } from '../../base/deps.ts';
import { toOrigin } from '../../base/origin.ts';
import type { PostSender, RawInbound, WebhookRoute } from '../../base/route.ts';
import type { Work } from '../../base/work_units.ts';
import { checkMediaType, readBody } from '../body.ts';
import { limitPost } from '../limit_requests.ts';
import type { PostLimits } from '../limit_requests.ts';

/**
 * The body of one post to a webhook. It counts for the project that its token proves. Without a token it is a
 * stranger's, as a request without a key is.
 */
export class PostBody {
  readonly #deps: Deps;
  readonly #ctx: RouterContext;
  readonly #declared: WebhookRoute;
  readonly #limits: PostLimits;
  #held: HeldBody | null = null;

  constructor(deps: Deps, declared: WebhookRoute, ctx: RouterContext) {
    this.#deps = deps;
    this.#ctx = ctx;
    this.#declared = declared;
    this.#limits = limitPost(deps, ctx);
  }

  readonly countAs = (sender: PostSender): void => {
    const { projectId, isProven } = sender;
    this.#limits.countAs(sender);
    this.#held ??= bodiesInHandOf(this.#deps).open(
      isProven
        ? { kind: 'server', projectId }
        : { kind: 'stranger', projectId, origin: toOrigin(this.#ctx.ip) },
    );
  };

  readonly charge = (work: readonly Work[]): void => this.#limits.charge(work);

  readonly readRaw: RawInbound['readRaw'] = async (mediaTypes, bytesMax) => {
    checkMediaType(this.#ctx.req, mediaTypes);
    const { bodyBytesMax } = this.#declared;
    const most = Math.min(bytesMax ?? bodyBytesMax, bodyBytesMax);
    const bytes = await readBody(this.#ctx.req, most, this.#held);
    this.#limits.chargeBody(bytes.length);
    if (this.#held) {
      // Of a form the marks of JSON are counted, too: it has fewer.
      const values = countValues(bytes.toString('latin1'));
      holdParsed(this.#held, { bytes: bytes.length, values });
    }
    return bytes;
  };

  close(): void {
    this.#held?.release();
  }
}
