import { isIP } from 'node:net';
import type { Config } from '../config.ts';

/** The entries of a list header (RFC 9110 §5.6.1), without empty ones. */
const splitList = (header: string): string[] =>
  header
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** An IP address as proxies write it: also with a port, IPv6 in brackets. Null for every other text. */
const toAddress = (entry: string): string | null => {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(entry) ?? [];
  const address = bracketed ?? plain ?? entry;
  return isIP(address) === 0 ? null : address;
};

/**
 * Returns the client's address behind so many trusted proxies: each appends to X-Forwarded-For the address that it was
 * asked from, so the entry that the outermost one wrote counts, from the right. Null where the header has fewer entries
 * than there are proxies, or that entry is no address: the client may have written what is there.
 */
export const findForwardedAddress = (header: string, trustedProxies: number): string | null => {
  if (trustedProxies === 0) return null;
  const entry = splitList(header).at(-trustedProxies);
  return entry === undefined ? null : toAddress(entry);
};

/** Returns the Host that the outermost trusted proxy was asked for, where proxies say it. */
export const findForwardedHost = (header: string, trustedProxies: number): string | null =>
  trustedProxies === 0 ? null : (splitList(header).slice(-trustedProxies)[0] ?? null);

const FORWARDING =
  /^(?:x-forwarded(?:-.*)?|forwarded|via|x-real-ip|x-client-ip|cf-connecting-ip|true-client-ip)$/;

/** Returns whether a request came through a proxy, by the names of its headers in lower case. */
export const isForwarded = (headerNames: readonly string[]): boolean =>
  headerNames.some((name) => FORWARDING.test(name));

/**
 * Returns whether all visitors share the address of a proxy that is not declared: behind https with TRUSTED_PROXIES 0.
 * Limits per address that would refuse everyone then do not apply.
 */
export const isAddressShared = ({
  publicUrl,
  trustedProxies,
}: Pick<Config, 'publicUrl' | 'trustedProxies'>): boolean =>
  publicUrl.startsWith('https:') && trustedProxies === 0;
