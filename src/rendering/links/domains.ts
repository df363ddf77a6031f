import { domainToASCII } from 'node:url';
import { parse } from 'tldts';

const toAscii = (host: string): string => domainToASCII(host) || host.toLowerCase();

/** More labels than any public suffix and the label before it have. Converting a whole name takes long. */
const LABELS_READ = 8;

/** Whether software makes a link of a host name that stands alone: its suffix is in the public list of ICANN's. */
export const isDomain = (host: string): boolean => {
  const end = host.split('.').slice(-LABELS_READ).join('.');
  const { domain, isIcann } = parse(toAscii(end), {
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
