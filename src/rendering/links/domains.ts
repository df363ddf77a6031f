import { domainToASCII } from 'node:url';
import { parse } from 'tldts';

const toAscii = (host: string): string => domainToASCII(host) || host.toLowerCase();

/** More labels than any public suffix and the label before it have. Reading a whole name takes long. */
export const LABELS_READ = 8;
const endOf = (host: string): string => host.split('.').slice(-LABELS_READ).join('.');

/**
 * Returns a host as it is compared, with the last of its labels: they say whose it is. A dot at the beginning is what
 * an empty label of a template leaves; one at the end is the root.
 */
export const toHost = (hostname: string): string =>
  endOf(hostname.toLowerCase().replaceAll(/^\.+|\.$/g, ''));

/** Whether software makes a link of a host name that stands alone: its suffix is in the public list of ICANN's. */
export const isDomain = (host: string): boolean => {
  const { domain, isIcann } = parse(toAscii(endOf(host)), {
    allowPrivateDomains: false,
    validateHostname: false,
  });
  return isIcann === true && domain !== null;
};

const LABELS = /^[^.]+(?:\.[^.]+)+$/;

/** Whether hosts below a name belong to its owner: not those of `co.uk`, nor of a provider such as `github.io`. */
const isOwned = (host: string): boolean =>
  LABELS.test(host) &&
  parse(host, { allowPrivateDomains: true, validateHostname: false }).domain !== null;

/** Whether a host is one of some hosts, or below one whose owner they have. */
export const isAmong = (host: string, hosts: ReadonlySet<string>): boolean => {
  if (hosts.has(host)) return true;
  for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
    const parent = host.slice(dot + 1);
    if (hosts.has(parent) && isOwned(parent)) return true;
  }
  return false;
};
