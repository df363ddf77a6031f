import { httpsSink } from './https_sink.ts';
import type { HttpReply, HttpsSink, HttpsSinkOptions, SunkRequest } from './https_sink.ts';

export const API_KEY = 'api-0123456789ABCDEF0123456789ABCDEF';

/** An error as SMTP2GO usually words one. */
export const relayError = (status: number, error_code: string, error: string): HttpReply => ({
  status,
  json: { request_id: '22e5acba-43bf-11e6-ae42-408d5cce2644', data: { error_code, error } },
});

export const NO_SUCH_KEY = "An API User matching the passed 'api_key' was not found";

const KEYS_MAY = ['/email/send', '/email/mime'];

const usually = ({ path, headers }: SunkRequest): HttpReply => {
  if (headers['x-smtp2go-api-key'] !== API_KEY)
    return relayError(401, 'E_ApiResponseCodes.API_EXCEPTION', NO_SUCH_KEY);
  if (path.endsWith('/api_keys/permissions'))
    return { status: 200, json: { request_id: 'r', data: KEYS_MAY } };
  const data = { succeeded: 1, failed: 0, failures: [], email_id: '1x2y3z-FnQW0aaaaaa-AB12' };
  return { status: 200, json: { request_id: 'r', data } };
};

/** SMTP2GO's HTTPS API, as far as we use it. */
export const relaySink = (options: Partial<HttpsSinkOptions> = {}): HttpsSink =>
  httpsSink({ usually, ...options });

/** The MIME message of a request. */
export const mimeOf = ({ body }: SunkRequest): string =>
  Buffer.from(
    (JSON.parse(body.toString()) as { mime_email: string }).mime_email,
    'base64',
  ).toString();
