import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { parse } from '../../base/parse.ts';
import { Refusal, refusals } from '../../base/refusal.ts';
import { listen } from './listen.ts';
import type { Listening } from './listen.ts';
import type { Mailbox } from './mailbox.ts';
import { FRAME_POLICY, framed, page, PAGE_POLICY } from './page.ts';
import type { Account } from './page.ts';
import { isOwnPeer } from './peer.ts';

/** The longest that a request for mails waits for one. */
export const WAIT_MS_MAX = 30_000;
export const HTTP_CONNECTIONS_MAX = 200;

const ListQuery = z.strictObject({
  after: z.uuid('the id of a mail').optional(),
  wait_ms: z
    .string()
    .regex(/^\d{1,5}$/, `whole milliseconds, at most ${WAIT_MS_MAX}`)
    .transform(Number)
    .pipe(z.number().max(WAIT_MS_MAX, `at most ${WAIT_MS_MAX}`))
    .default(0),
});

/** Every answer: nothing is kept by the browser, guessed, or given to other sites. */
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const;

type Context = { mailbox: Mailbox; account: Account };
/** One request: what its path names, what it asks, and a signal that aborts when its client has gone. */
type Call = Context & { id: string; query: URLSearchParams; gone: AbortSignal };
type Answer = { status?: number; headers?: Record<string, string>; body?: string | Buffer };
type Handler = (call: Call, response: ServerResponse) => Answer | null | Promise<Answer | null>;

const json = (value: unknown, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(value),
});

const html = (body: string, policy: string): Answer => ({
  headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
  body,
});

const find = ({ mailbox, id }: Call) => {
  const kept = mailbox.find(id);
  if (!kept) throw new Refusal('not_found', { detail: 'No such mail is kept.' });
  return kept;
};

const listMails: Handler = async ({ mailbox, query, gone }) => {
  const { after, wait_ms } = parse(ListQuery, Object.fromEntries(query));
  if (wait_ms === 0) return json(mailbox.list(after));
  const signal = AbortSignal.any([gone, AbortSignal.timeout(wait_ms)]);
  return json(await mailbox.listWhenAny(after, signal));
};

const emptyMailbox: Handler = ({ mailbox }) => {
  mailbox.empty();
  return { status: 204 };
};

const showRaw: Handler = (call) => ({
  headers: {
    'content-type': 'message/rfc822',
    'content-disposition': `attachment; filename="${call.id}.eml"`,
  },
  body: find(call).raw,
});

const showHtml: Handler = (call) => html(framed(find(call).mail.html ?? ''), FRAME_POLICY);

const showPage: Handler = ({ mailbox, account, query }) =>
  html(page({ mails: mailbox.list(), account, query }), PAGE_POLICY);

/** Says that something changed, for as long as the client listens; the client asks what. */
const streamChanges: Handler = ({ mailbox, gone }, response) => {
  const headers = { 'content-type': 'text/event-stream' };
  if (response.req.method === 'HEAD') return { headers };
  response.writeHead(200, { ...HEADERS, ...headers });
  response.write('retry: 1000\n\n');
  mailbox.watch((change) => {
    // To a client that does not read there is nothing new to say: it has a change to read already.
    if (!response.writableNeedDrain) response.write(`data: ${change}\n\n`);
  }, gone);
  return null;
};

type Route = { path: RegExp; methods: Partial<Record<string, Handler>> };

const routes: Route[] = [
  { path: /^\/$/, methods: { GET: showPage } },
  { path: /^\/changes$/, methods: { GET: streamChanges } },
  { path: /^\/messages$/, methods: { GET: listMails, DELETE: emptyMailbox } },
  { path: /^\/messages\/(?<id>[^/]+)\/raw$/, methods: { GET: showRaw } },
  { path: /^\/messages\/(?<id>[^/]+)\/html$/, methods: { GET: showHtml } },
];

/** Our own names only: a site that makes its name point here cannot read the emails. */
const OWN_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

const answer = async (
  context: Context,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Answer | null> => {
  if (!OWN_HOST.test(request.headers.host ?? '')) {
    throw new Refusal('not_found', { detail: 'Ask for localhost or 127.0.0.1.' });
  }
  if (!isOwnPeer(request.socket)) {
    throw new Refusal('not_found', { detail: 'Ask as the user who runs the mail catcher.' });
  }
  const url = URL.parse(request.url ?? '', 'http://localhost');
  const route = routes.find(({ path }) => path.test(url?.pathname ?? ''));
  if (!url || !route) {
    throw new Refusal('not_found', { detail: 'There is nothing here. Start at / or /messages.' });
  }
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '');
  const handler = Object.hasOwn(route.methods, method) ? route.methods[method] : undefined;
  if (!handler) {
    const allowed = Object.keys(route.methods).flatMap((m) => (m === 'GET' ? ['GET', 'HEAD'] : m));
    response.setHeader('allow', allowed.join(', '));
    throw new Refusal('method_not_allowed');
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const id = route.path.exec(url.pathname)?.groups?.['id'] ?? '';
  return handler({ ...context, id, query: url.searchParams, gone: gone.signal }, response);
};

const toAnswer = (error: unknown): Answer => {
  const { reason, extras } =
    error instanceof Refusal ? error : new Refusal('internal_error', { cause: error });
  const { status, detail } = refusals[reason];
  const issues = extras.issues ? { issues: extras.issues } : {};
  return json({ error: reason, status, detail: extras.detail ?? detail, ...issues }, status);
};

export type HttpOptions = Context & { port: number };

/** Opens the page and the JSON of a mailbox on 127.0.0.1. */
export const openHttp = async ({ port, ...context }: HttpOptions): Promise<Listening> => {
  const server = createServer((request, response) => {
    request.resume();
    response.on('error', () => {});
    void answer(context, request, response)
      .catch(toAnswer)
      .then((given) => {
        if (given === null || response.destroyed) return;
        response.writeHead(given.status ?? 200, { ...HEADERS, ...given.headers });
        response.end(given.body);
      });
  });
  server.maxConnections = HTTP_CONNECTIONS_MAX;
  const at = await listen(server, port, 'The page of the mail catcher');
  server.on('error', () => {});
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { port: at, close };
};
