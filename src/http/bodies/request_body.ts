import type { RouterContext } from '@koa/router';
import { bodiesInHandOf, holdParsed } from '../../base/bodies/bodies.ts';
import type { BodySender, HeldBody } from '../../base/bodies/bodies.ts';
import type { Deps } from '../../base/deps.ts';
import { parseStrictJson } from '../../base/json.ts';
import { toOrigin } from '../../base/origin.ts';
import { parse } from '../../base/parse.ts';
import { BODY_BYTES_DEFAULT } from '../../base/route.ts';
import type { JsonRoute } from '../../base/route.ts';
import type { Key } from '../../projects/projects.ts';
import {
  bytesToRead,
  checkCharset,
  checkMediaType,
  hasBody,
  readBody,
  readPackedBody,
} from '../body.ts';
import type { Intake } from '../body.ts';
import { wasRefused } from '../idempotency.ts';
import { chargeRefusedBody, limitBody, limitUnauthenticated } from '../limit_requests.ts';

const NO_BODY = Buffer.alloc(0);

const senderOf = ({ caller: { kind, projectId } }: Key, ctx: RouterContext): BodySender =>
  kind === 'server'
    ? { kind, projectId }
    : { kind: 'stranger', projectId, origin: toOrigin(ctx.ip) };

/**
 * The body of one request. It is read at most once, its memory counts until `close`, and it is charged by its size
 * before it is parsed: what an address or a key has no units for costs nothing more than its bytes.
 */
export class RequestBody implements Intake {
  readonly #deps: Deps;
  readonly #ctx: RouterContext;
  readonly #declared: JsonRoute;
  readonly #bytesMax: number;
  #held: HeldBody | null = null;
  #bytes: Promise<Buffer> | null = null;
  /** How many bytes were read, and unpacked or about to be. */
  #taken = 0;

  constructor(deps: Deps, declared: JsonRoute, ctx: RouterContext) {
    this.#deps = deps;
    this.#ctx = ctx;
    this.#declared = declared;
    this.#bytesMax = declared.bodyBytesMax ?? BODY_BYTES_DEFAULT;
  }

  /** Begins to count the request of a key. One that named its key in its body counts already, as a stranger's. */
  open(key: Key): void {
    if (!this.#declared.body) return;
    this.#held ??= bodiesInHandOf(this.#deps).open(senderOf(key, this.#ctx));
  }

  /** Reads the body before a key is known, to find one in it. It counts, and is charged, by its address. */
  async readKeyless(): Promise<Buffer> {
    limitUnauthenticated(this.#deps, this.#ctx);
    const origin = toOrigin(this.#ctx.ip);
    this.#held = bodiesInHandOf(this.#deps).open({ kind: 'stranger', projectId: null, origin });
    try {
      const bytes = await this.read();
      limitBody(this.#deps, this.#ctx, null, bytes.length);
      return bytes;
    } catch (error) {
      if (wasRefused(error)) chargeRefusedBody(this.#deps, this.#ctx, null, this.#taken);
      throw error;
    }
  }

  /** Counts bytes that are read, or unpacked. */
  add(bytes: number): void {
    this.#taken += bytes;
    this.#held?.add(bytes);
  }

  arrive(onEnded: () => void): void {
    this.#held?.arrive(onEnded);
  }

  hasArrived(): void {
    this.#held?.hasArrived();
  }

  /** Returns the bytes of the body. */
  read(): Promise<Buffer> {
    this.#bytes ??= this.#readOnce();
    return this.#bytes;
  }

  /** Returns the bytes and the parsed body. One that is refused is charged by its size, too. */
  async parse(key: Key): Promise<{ bytes: Buffer; body: unknown }> {
    const { body: schema, isBodyOptional } = this.#declared;
    if (!schema) return { bytes: NO_BODY, body: undefined };
    let size: number | null = null;
    try {
      const bytes = await this.read();
      size = bytes.length;
      limitBody(this.#deps, this.#ctx, key, size);
      const isLeftOut = isBodyOptional && size === 0;
      return { bytes, body: parse(schema, isLeftOut ? {} : this.#toJson(bytes)) };
    } catch (error) {
      const most = size ?? Math.max(bytesToRead(this.#ctx.req, this.#bytesMax), this.#taken);
      if (wasRefused(error)) chargeRefusedBody(this.#deps, this.#ctx, key, most);
      throw error;
    }
  }

  /** Ends the request: its answer is made. */
  close(): void {
    this.#held?.release();
  }

  #toJson(bytes: Buffer): unknown {
    return parseStrictJson(bytes, (values) => {
      if (this.#held) holdParsed(this.#held, { bytes: bytes.length, values });
    });
  }

  async #readOnce(): Promise<Buffer> {
    const { body, isBodyOptional, takesWriteKey } = this.#declared;
    const { req } = this.#ctx;
    if (!body || (isBodyOptional && !hasBody(req))) return NO_BODY;
    if (takesWriteKey) return readPackedBody(req, this.#bytesMax, this);
    checkMediaType(req);
    checkCharset(req);
    return readBody(req, this.#bytesMax, this);
  }
}
