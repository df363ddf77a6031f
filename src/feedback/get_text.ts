import { request as requestHttp } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { resolveEgress } from '../base/egress.ts';
import type { NameServers } from '../base/resolve_host.ts';

/** What became of a GET. A host that cannot be reached, or is in trouble, says nothing of what was asked. */
export type Got = { kind: 'text'; text: string } | { kind: 'refused' } | { kind: 'unreachable' };

export type Asking = {
  url: URL;
  /** Who is asked instead of the host in the address, which is still named. For tests. */
  via: string | null;
  allowNetworks: readonly string[];
  nameServers: NameServers;
  timeoutMs: number;
  bytesMax: number;
};

const UNREACHABLE: Got = { kind: 'unreachable' };

const readText = async (response: IncomingMessage, bytesMax: number): Promise<Got> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bytesMax) return { kind: 'refused' };
    chunks.push(chunk);
  }
  return { kind: 'text', text: Buffer.concat(chunks).toString('utf8') };
};

/** Redirects are not followed: where they lead was not checked. */
const readAnswer = async (response: IncomingMessage, bytesMax: number): Promise<Got> => {
  const { statusCode = 500 } = response;
  if (statusCode === 200) return readText(response, bytesMax);
  response.destroy();
  return statusCode >= 500 || statusCode === 429 ? UNREACHABLE : { kind: 'refused' };
};

/** Asks exactly the address that was checked; certificates are held to the name. */
const ask = (to: URL, options: RequestOptions, { timeoutMs, bytesMax }: Asking): Promise<Got> =>
  new Promise((resolve) => {
    const send = to.protocol === 'https:' ? requestHttps : requestHttp;
    const request = send({ ...options, agent: false, signal: AbortSignal.timeout(timeoutMs) });
    request.on('error', () => resolve(UNREACHABLE));
    request.on('response', (response) => {
      readAnswer(response, bytesMax).then(resolve, () => resolve(UNREACHABLE));
    });
    request.end();
  });

/** Gets a short text from a host that anybody may have named: through the egress guard, in bounded time. */
export const getText = async (asking: Asking): Promise<Got> => {
  const { url, via, allowNetworks, nameServers } = asking;
  const to = via === null ? url : new URL(via);
  const host = to.hostname.replace(/^\[(.*)\]$/, '$1');
  const egress = await resolveEgress(host, allowNetworks, nameServers);
  if (egress.kind !== 'open') return UNREACHABLE;
  const options = {
    host: egress.address,
    servername: host,
    ...(to.port === '' ? {} : { port: to.port }),
    path: `${url.pathname}${url.search}`,
    headers: { Host: url.host },
  };
  return ask(to, options, asking);
};
