import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isForwarded } from '../base/forwarded.ts';
import { isLoopbackAddress, isLoopbackHost, parseHost } from '../base/loopback.ts';

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const BEARER = /^Bearer +(.*)$/i;

/** Compares digests: they have one length, whatever a header holds, and comparing them takes one time. */
const isToken = (authorization: string, token: string): boolean =>
  timingSafeEqual(digestOf(BEARER.exec(authorization)?.[1] ?? ''), digestOf(token));

/** Returns whether the request comes from this machine, names this machine as host, and no proxy forwarded it. */
const isLocal = ({ socket, headers, headersDistinct }: IncomingMessage): boolean => {
  const host = headersDistinct['host']?.length === 1 ? parseHost(headers.host ?? '') : null;
  return (
    host !== null &&
    isLoopbackHost(host.hostname) &&
    isLoopbackAddress(socket.remoteAddress ?? '') &&
    !isForwarded(Object.keys(headers))
  );
};

/**
 * Returns whether a request may read /metrics: with a token set only the one request that brings it, once. Without a
 * token a connection from this machine, whose Host names this machine (DNS rebinding), and that no proxy forwards.
 */
export const mayReadMetrics = (request: IncomingMessage, token: string | null): boolean => {
  if (token === null) return isLocal(request);
  const [authorization = '', ...more] = request.headersDistinct['authorization'] ?? [];
  return more.length === 0 && isToken(authorization, token);
};
