import type { Deps } from '../base/deps.ts';
import { openHttps } from '../base/https.ts';
import type { Exchange, HttpsConnection, HttpsFailure } from '../base/https.ts';
import { nameServersOf } from '../base/resolve_host.ts';
import { readRetryAfter } from '../base/retry_after.ts';
import { traceHeader } from '../base/traceparent.ts';
import { CALL_ANSWER_BYTES_MAX, CALL_TIMEOUTS } from './call_limits.ts';
import { signWebhook } from './sign_webhook.ts';

const GONE = 410;
/** Refusals that may be over in a while; any other is what the endpoint thinks of the message. */
const PASSING = [408, 409, 425, 429];

/** What an endpoint answered to a message. */
export type WebhookAnswer =
  | { kind: 'delivered'; httpStatus: number }
  | { kind: 'refused'; httpStatus: number | null; reason: string }
  | { kind: 'postponed'; httpStatus: number | null; reason: string; hintSeconds: number | null };

/** What an answer, or the lack of one, says of a message. */
const classify = (came: Exchange | { kind: 'failed'; reason: HttpsFailure }): WebhookAnswer => {
  if (came.kind === 'failed')
    return { kind: 'postponed', httpStatus: null, reason: came.reason, hintSeconds: null };
  if (came.kind !== 'answered')
    return { kind: 'postponed', httpStatus: null, reason: 'no_answer', hintSeconds: null };
  const { status, headers } = came;
  if (status >= 200 && status < 300) return { kind: 'delivered', httpStatus: status };
  if (status >= 500 || PASSING.includes(status)) {
    const hintSeconds = readRetryAfter(headers['retry-after']);
    return { kind: 'postponed', httpStatus: status, reason: 'refused', hintSeconds };
  }
  const reason = status === GONE ? 'endpoint_gone' : 'refused';
  return { kind: 'refused', httpStatus: status, reason };
};

/** Connections that are open just now, so that a process that stops can end them. */
export type Open = Set<HttpsConnection>;

/** One message to an endpoint: `id` is the same at each attempt. */
export type WebhookMessage = {
  id: string;
  url: URL;
  secrets: readonly string[];
  body: string;
  at: Date;
  traceparent?: string | null;
};

/** Posts a message, signed, to the checked address of its endpoint. Never follows a redirect. */
export const postWebhook = async (
  deps: Deps,
  { id, url, secrets, body, at, traceparent = null }: WebhookMessage,
  open: Open,
): Promise<WebhookAnswer> => {
  const ways = {
    allowNetworks: deps.config.egressAllowNetworks,
    nameServers: nameServersOf(deps),
  };
  const connected = await openHttps(url, ways, CALL_TIMEOUTS);
  if (connected.kind === 'failed') return classify(connected);
  const { connection } = connected;
  open.add(connection);
  try {
    const exchange = await connection.exchange({
      method: 'POST',
      path: url.pathname + url.search,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Trunkline',
        ...signWebhook(secrets, { id, at, body }),
        ...traceHeader(traceparent),
      },
      body: Buffer.from(body),
      mayStart: () => true,
      answerBytesMax: CALL_ANSWER_BYTES_MAX,
    });
    return classify(exchange);
  } finally {
    open.delete(connection);
    connection.close();
  }
};
