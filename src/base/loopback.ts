import { isIPv4 } from 'node:net';

/** The spellings of this machine that people type, as a URL holds them. */
export const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'] as const;

/** Returns whether an address of a socket is of this machine. */
export const isLoopbackAddress = (address: string): boolean => {
  const unmapped = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  return unmapped === '::1' || (isIPv4(unmapped) && unmapped.startsWith('127.'));
};

/** A host as a URL has it: in lower case, canonical, IPv6 in brackets. The port is empty where it is the default. */
export type Host = { hostname: string; port: string };

const HOST = /^(?:[a-z\d._-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Reads a Host header (RFC 9110 §7.2). Null for what is no name, no address, or has anything else in it. */
export const parseHost = (header: string, protocol: 'http:' | 'https:' = 'http:'): Host | null => {
  const text = `${protocol}//${header}`;
  if (!HOST.test(header) || !URL.canParse(text)) return null;
  const { hostname, port } = new URL(text);
  return { hostname, port };
};

/** Returns whether a host of a URL names this machine. */
export const isLoopbackHost = (hostname: string): boolean =>
  hostname === 'localhost' || isLoopbackAddress(hostname.replace(/^\[(.*)\]$/, '$1'));
