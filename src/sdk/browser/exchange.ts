import { warn } from './config.ts';
import type { Settings } from './config.ts';
import type { Pause } from './pause.ts';
import type { Queue } from './queue.ts';
import {
  BATCH_EVENTS_MAX,
  bytesOf,
  KEEPALIVE_BYTES_MAX,
  nextRequest,
  post,
  withoutTime,
} from './request.ts';
import type { Answer, Issue, Request } from './request.ts';

const ACCEPTED = 202;
const BAD_REQUESTS = [400, 413, 422];
const TRY_AGAIN = [408, 425, 429];

/** What is to follow an answer: the next request, nothing ever, or the next try in so many milliseconds. */
type Next = 'on' | 'never' | number | null;

export type Exchange = {
  /** Sends what is due, one request after the other, until something is in the way. */
  drain: (due: readonly string[]) => Promise<Next>;
  /** Sends what is due at once, as far as it may outlive the page. */
  handOver: (due: readonly string[]) => void;
};

/** Whether something is said of the event in a place of the batch. */
const isOf =
  (at: number) =>
  ({ path }: Issue): boolean =>
    `${path}/`.startsWith(`/events/${at}/`);

/** Says which items of a request are bad; none, if the answer does not. */
const findBad = ({ ids }: Request, { issues }: Answer): string[] => {
  const named = ids.filter((_, at) => issues.some(isOf(at)));
  return named.length === 0 && ids.length === 1 ? ids : named;
};

/** Drops what is bad, or undates it. Answers how many events may go together next: fewer find a bad one. */
const mend = (queue: Queue, request: Request, answer: Answer): number => {
  const { ids } = request;
  const bad = findBad(request, answer);
  const [first = ''] = bad;
  const undated = withoutTime(queue.get(first) ?? '');
  if (answer.issues.some(({ path }) => path === '/occurred_at') && undated !== queue.get(first)) {
    queue.put(first, undated);
    return BATCH_EVENTS_MAX;
  }
  for (const id of bad) {
    const own = ids.length > 1 ? answer.issues.filter(isOf(ids.indexOf(id))) : answer.issues;
    warn('refused, and dropped:', queue.get(id), own);
  }
  queue.remove(bad);
  return bad.length > 0 ? BATCH_EVENTS_MAX : Math.ceil(ids.length / 2);
};

/** Requests of what waits in the queue, and what becomes of them. */
export const openExchange = (settings: Settings, queue: Queue, pause: Pause): Exchange => {
  const inFlight = new Set<string>();
  let eventsMax = BATCH_EVENTS_MAX;

  const isWaiting = (id: string): boolean => queue.get(id) !== undefined && !inFlight.has(id);
  const send = async (request: Request): Promise<Answer> => {
    for (const id of request.ids) inFlight.add(id);
    const answer = await post(settings, request);
    for (const id of request.ids) inFlight.delete(id);
    if (answer.status === ACCEPTED) queue.remove(request.ids);
    return answer;
  };

  const settle = (request: Request, answer: Answer): Next => {
    const { status } = answer;
    if (status === ACCEPTED) {
      pause.end();
      eventsMax = BATCH_EVENTS_MAX;
      return 'on';
    }
    // Forgotten meanwhile: nothing of it is kept, and no pause either.
    if (!request.ids.some(queue.get)) return 'on';
    if (BAD_REQUESTS.includes(status)) {
      eventsMax = mend(queue, request, answer);
      return 'on';
    }
    const isTrouble = status === 0 || status >= 500 || TRY_AGAIN.includes(status);
    if (!isTrouble)
      warn(`${settings.apiHost} answered ${status} and took nothing: see apiKey and apiHost`);
    // Some pages say 200 to everything, for now.
    return isTrouble || status < 400 ? pause.begin(answer) : 'never';
  };

  return {
    drain: async (given) => {
      let due = given.filter(isWaiting);
      while (due.length > 0) {
        const request = nextRequest(queue, due, { eventsMax });
        const next = settle(request, await send(request));
        if (next !== 'on') return next;
        due = due.filter(isWaiting);
      }
      return 'on';
    },
    handOver: (given) => {
      let due = given.filter(isWaiting);
      for (let bytesMax = KEEPALIVE_BYTES_MAX; due.length > 0;) {
        const request = nextRequest(queue, due, { bytesMax });
        bytesMax -= bytesOf(request.body);
        if (bytesMax < 0) return;
        void send(request);
        due = due.filter(isWaiting);
      }
    },
  };
};
