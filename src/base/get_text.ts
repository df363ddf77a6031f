import { openHttps } from './https.ts';
import type { Exchange, Ways } from './https.ts';

/** What became of a GET. A host that cannot be reached, or is in trouble, says nothing of what was asked. */
export type Got = { kind: 'text'; text: string } | { kind: 'refused' } | { kind: 'unreachable' };

export type Asking = Ways & {
  url: URL;
  /** Who is asked instead of the host in the address, which is still named. For tests. */
  via: string | null;
  /** For the connection and the whole exchange together, however busy it looks. */
  timeoutMs: number;
  bytesMax: number;
};

const UNREACHABLE: Got = { kind: 'unreachable' };

/** Redirects are not followed: where they lead was not checked. */
const toGot = (exchange: Exchange): Got => {
  if (exchange.kind !== 'answered') return UNREACHABLE;
  const { status, body, isTooLong } = exchange;
  if (status >= 500 || status === 429) return UNREACHABLE;
  if (status !== 200 || isTooLong) return { kind: 'refused' };
  return body === null ? UNREACHABLE : { kind: 'text', text: body.toString('utf8') };
};

/** Gets a short text from a host that anybody may have named: through the egress guard, in bounded time. */
export const getText = async (asking: Asking): Promise<Got> => {
  const { url, via, timeoutMs, bytesMax } = asking;
  const timeouts = { connectMs: timeoutMs, headersMs: timeoutMs, answerMs: timeoutMs };
  const startedAt = performance.now();
  const opened = await openHttps(via === null ? url : new URL(via), asking, timeouts);
  if (opened.kind === 'failed') return UNREACHABLE;
  const { connection } = opened;
  const leftMs = Math.max(0, timeoutMs - (performance.now() - startedAt));
  const tooLong = setTimeout(() => connection.close(), leftMs);
  try {
    const request = {
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: { Host: url.host },
      body: Buffer.alloc(0),
      mayStart: () => true,
      answerBytesMax: bytesMax,
    };
    return toGot(await connection.exchange(request));
  } finally {
    clearTimeout(tooLong);
    connection.close();
  }
};
