import type { Settings } from './config.ts';
import { timeOf } from './queue.ts';
import type { Queue } from './queue.ts';

export const BATCH_EVENTS_MAX = 50;
export const BATCH_BYTES_MAX = 1_000_000;
/** A browser lets all that outlives a page be 64 KiB together: one request of a page, and one as it goes. */
export const KEEPALIVE_BYTES_MAX = 32_000;
const TIMEOUT_MS = 30_000;
/** What was said so recently, the server's clock dates better than that of a page. */
const FRESH_MS = 60_000;
const MS_PER_SECOND = 1_000;

/** What stands around the events of a batch. */
const AROUND_BYTES = 64;

export type Request = { ids: string[]; path: string; body: string };
export type Issue = { path: string; message: string };
/** What became of a request; status 0 is no answer. */
export type Answer = { status: number; retryAfterMs: number; issues: Issue[] };

const encoder = new TextEncoder();
export const bytesOf = (text: string): number => encoder.encode(text).length;

/** As `openClient` writes them: an event begins with its name. */
const isEvent = (text: string): boolean => text.startsWith('{"event"');

export const withoutTime = (text: string): string =>
  text.replace(/,"occurred_at":"[^"]*"(?=,"message_id":"\w*"}$)/, '');

const toIdentify = (id: string, text: string): Request => {
  const body = Date.now() - timeOf(id) < FRESH_MS ? withoutTime(text) : text;
  return { ids: [id], path: '/v1/identify', body };
};

/** The next request: so many events as may go together, or the one word on who somebody is. */
export const nextRequest = (
  queue: Queue,
  due: readonly string[],
  { eventsMax = BATCH_EVENTS_MAX, bytesMax = BATCH_BYTES_MAX } = {},
): Request => {
  const ids: string[] = [];
  const texts: string[] = [];
  let bytes = AROUND_BYTES;
  for (const id of due) {
    const text = queue.get(id) ?? '';
    if (!isEvent(text) && text.includes('"external_id"')) {
      if (ids.length === 0) return toIdentify(id, text);
      break;
    }
    bytes += bytesOf(text) + 1;
    if (ids.length > 0 && (ids.length >= eventsMax || bytes > bytesMax)) break;
    ids.push(id);
    texts.push(text);
  }
  const sentAt = new Date().toISOString();
  const body = `{"sent_at":"${sentAt}","events":[${texts.join()}]}`;
  return { ids, path: '/v1/events/batch', body };
};

/** Reads an answer to its end: until then a browser counts its request among those that may outlive the page. */
const readIssues = async (response: Response): Promise<Issue[]> => {
  const body = (await response.json().catch(() => null)) as { issues?: Issue[] } | null;
  return body?.issues ?? [];
};

/** Sends a request. Never fails: no answer is an answer, too. */
export const post = async (
  { apiHost, apiKey }: Settings,
  { path, body }: Request,
): Promise<Answer> => {
  try {
    const response = await fetch(apiHost + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body,
      // The page may go at any moment.
      keepalive: bytesOf(body) <= KEEPALIVE_BYTES_MAX,
      credentials: 'omit',
      // The address of a page may hold what nobody else should know.
      referrerPolicy: 'no-referrer',
      // Older browsers wait for as long as they do.
      signal: AbortSignal.timeout?.(TIMEOUT_MS) ?? null,
    });
    const { status, headers } = response;
    const retryAfterMs = Number(headers.get('Retry-After')) * MS_PER_SECOND || 0;
    const issues = await readIssues(response);
    return { status, retryAfterMs, issues: status === 400 ? issues : [] };
  } catch {
    return { status: 0, retryAfterMs: 0, issues: [] };
  }
};
