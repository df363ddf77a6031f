import { inHalves } from './session.ts';
import { until } from './until.ts';

type Told = { event: string; data: unknown };

export type EventStream = {
  status: number;
  headers: Headers;
  /** What was told so far, in order: what the procedure told, under `message`. */
  told: Told[];
  /** What the procedure itself told so far. */
  messages: () => unknown[];
  /** Waits until the stream has ended, whoever ended it. */
  ended: Promise<void>;
  close: () => void;
};

const read = (block: string): Told | null => {
  const lines = block.split('\n');
  const of = (name: string) =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const data = of('data');
  const event = of('event') ?? (data === undefined ? undefined : 'message');
  if (event === undefined) return null;
  return { event, data: data === undefined || data === '' ? null : JSON.parse(data) };
};

/** Reads until the stream ends; what is told last may be cut off by that. */
const follow = async (response: Response, told: Told[]): Promise<void> => {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      for (let end; (end = text.indexOf('\n\n')) !== -1; text = text.slice(end + 2)) {
        const one = read(text.slice(0, end));
        if (one) told.push(one);
      }
    }
  } catch {
    // It was closed.
  }
};

/** Looks on at a procedure as a browser does, with server-sent events. */
export const openStream = async (
  url: string,
  procedure: string,
  { input, cookie, ...headers }: { input: unknown; cookie: string } & Record<string, unknown>,
): Promise<EventStream> => {
  const leaving = new AbortController();
  const query = encodeURIComponent(JSON.stringify(input));
  const response = await fetch(`${url}/admin/trpc/${procedure}?input=${query}`, {
    headers: {
      accept: 'text/event-stream',
      ...inHalves(cookie),
      ...(headers as Record<string, string>),
    },
    signal: leaving.signal,
  });
  const told: Told[] = [];
  return {
    status: response.status,
    headers: response.headers,
    told,
    messages: () => told.filter(({ event }) => event === 'message').map(({ data }) => data),
    ended: follow(response, told),
    close: () => leaving.abort(),
  };
};

type Shape = { message: string; data: { httpStatus: number } };

/** What whoever wants to look on is answered at first: a state, or a refusal, which streams tell as an event. */
export const answerOf = async (
  stream: EventStream,
): Promise<{ status: number; error: Shape | null; state?: unknown }> => {
  const { event, data } = await until(
    'it tells something',
    () =>
      stream.told.find((one) => one.event === 'message' || one.event === 'serialized-error') ??
      null,
  );
  if (event === 'message') return { status: 200, error: null, state: data };
  return { status: (data as Shape).data.httpStatus, error: data as Shape };
};

/** Waits until a stream has told so many states. */
export const tells = async (stream: EventStream, count: number): Promise<void> => {
  await until(`${count} states are told`, () => stream.messages().length >= count);
};
