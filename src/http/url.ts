import type { Context, Middleware } from 'koa';
import { Refusal } from '../base/refusal.ts';
import { pointer } from '../base/parse.ts';
import type { Issue } from '../base/refusal.ts';
import { isStorable } from '../base/text.ts';

const decodes = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

const invalid = (issue: Issue): Refusal => new Refusal('invalid_request', { issues: [issue] });

const HTTP_WITHOUT_HOST = '1.0';

/** HTTP/1.1 wants a Host header (RFC 9112 §3.2); Node would refuse in a shape of its own. */
export const requireHost: Middleware = (ctx, next) => {
  if (ctx.req.httpVersion !== HTTP_WITHOUT_HOST && ctx.req.headers.host === undefined)
    throw new Refusal('invalid_request', { detail: 'Send a Host header.' });
  return next();
};

/** Whether Koa can read the path of a request. */
const hasPath = (ctx: Context): boolean => {
  try {
    return ctx.path !== '';
  } catch {
    return false;
  }
};

/** A request target that is no URL, such as `http://[` (RFC 9112, section 3.2.2): what reads the path would throw. */
export const requireTarget: Middleware = (ctx, next) => {
  if (hasPath(ctx)) return next();
  // What looks at the path once more, after the refusal, finds one.
  ctx.req.url = '/';
  throw invalid({ path: '', message: 'the request target is no URL: send a path' });
};

/** A path that does not decode is a mistake of the caller's; one with U+0000 names nothing that we could store. */
export const checkPath = ({ path, params }: Context & { params: Record<string, string> }): void => {
  if (!decodes(path))
    throw invalid({ path: '', message: 'the path does not decode: percent-encode it as UTF-8' });
  if (!Object.values(params).every(isStorable)) throw new Refusal('not_found');
};

/** What a path names: a project's id is the same in capitals (RFC 9562 §4), and compared in lower case. */
export const inLowerCase = (params: Record<string, string>): Record<string, string> => {
  const { project_id } = params;
  return project_id === undefined ? params : { ...params, project_id: project_id.toLowerCase() };
};

/** The query parameters by name. None may come twice: whichever were taken, somebody would be surprised. */
export const readQuery = ({ querystring }: Context): Record<string, string> => {
  if (!decodes(querystring))
    throw invalid({ path: '', message: 'the query does not decode: percent-encode it as UTF-8' });
  const query = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(querystring)) {
    if (query.has(name)) throw invalid({ path: pointer([name]), message: 'given more than once' });
    if (!isStorable(value))
      throw invalid({ path: pointer([name]), message: 'must not contain U+0000' });
    query.set(name, value);
  }
  return Object.fromEntries(query);
};
