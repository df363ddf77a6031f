import type { Deps } from '../base/deps.ts';
import { nameServersOf } from '../base/resolve_host.ts';
import { getText } from '../base/get_text.ts';
import type { Got } from '../base/get_text.ts';
import { hostOfTopic, isSignedBy, readCertificateUrl } from './sns.ts';
import type { SnsMessage } from './sns.ts';

const CERTIFICATE_TIMEOUT_MS = 3_000;
const CERTIFICATE_BYTES_MAX = 16 * 1024;
const CONFIRM_TIMEOUT_MS = 5_000;
const CONFIRM_BYTES_MAX = 64 * 1024;

const CACHED_MAX = 100;
const CACHED_MS = 6 * 3_600_000;
/** An address that has no certificate is not asked again at once, however often it is posted. */
const REFUSED_MS = 60_000;

/** Who is asked for certificates and confirmations: the service, or whoever stands for it. */
export type SnsNetwork = {
  certificate: (url: URL) => Promise<Got>;
  confirm: (url: URL) => Promise<Got>;
};

type Cached = { got: Promise<Got>; until: number };

/** Keeps what each address answered for a while; what could not be reached is asked for again. */
export const cachedFor = (ask: (url: URL) => Promise<Got>, now = Date.now) => {
  const cache = new Map<string, Cached>();
  return (url: URL): Promise<Got> => {
    const known = cache.get(url.href);
    if (known && known.until > now()) return known.got;
    const cached: Cached = { got: ask(url), until: now() + CACHED_MS };
    cache.delete(url.href);
    const [oldest] = cache.keys();
    if (cache.size >= CACHED_MAX && oldest !== undefined) cache.delete(oldest);
    cache.set(url.href, cached);
    const settle = ({ kind }: Got): void => {
      if (kind === 'unreachable') cache.delete(url.href);
      if (kind === 'refused') cached.until = now() + REFUSED_MS;
    };
    cached.got.then(settle, () => cache.delete(url.href));
    return cached.got;
  };
};

/** The service itself, asked through the egress guard. One per process, for the sake of the cache. */
export const makeSnsNetwork = (deps: Pick<Deps, 'config' | 'resources'>): SnsNetwork => {
  const { config } = deps;
  const asking = {
    via: config.snsUrl,
    allowNetworks: config.egressAllowNetworks,
    nameServers: nameServersOf(deps),
  };
  return {
    certificate: cachedFor((url) =>
      getText({
        ...asking,
        url,
        timeoutMs: CERTIFICATE_TIMEOUT_MS,
        bytesMax: CERTIFICATE_BYTES_MAX,
      }),
    ),
    confirm: (url) =>
      getText({ ...asking, url, timeoutMs: CONFIRM_TIMEOUT_MS, bytesMax: CONFIRM_BYTES_MAX }),
  };
};

export type Checked = 'proven' | 'wrong' | 'unreachable';

/** Whether a message comes from the service: signed with a certificate that it holds out itself. */
export const checkSnsSignature = async (
  network: Pick<SnsNetwork, 'certificate'>,
  message: SnsMessage,
  now: Date,
): Promise<Checked> => {
  const url = readCertificateUrl(message.SigningCertURL, message.TopicArn);
  if (url === null) return 'wrong';
  const got = await network.certificate(url);
  if (got.kind === 'unreachable') return 'unreachable';
  return got.kind === 'text' && isSignedBy(message, got.text, now) ? 'proven' : 'wrong';
};

export type Confirmed =
  { kind: 'confirmed'; subscriptionArn: string } | { kind: 'refused' } | { kind: 'unreachable' };

/**
 * Confirms a subscription, at an address made from the topic's name: the one in the message is nowhere asked.
 * Doing it twice is doing it once.
 */
export const confirmSubscription = async (
  network: Pick<SnsNetwork, 'confirm'>,
  { TopicArn, Token = '' }: Pick<SnsMessage, 'TopicArn' | 'Token'>,
): Promise<Confirmed> => {
  const url = new URL(`https://${hostOfTopic(TopicArn)}/`);
  url.search = new URLSearchParams({ Action: 'ConfirmSubscription', TopicArn, Token }).toString();
  const got = await network.confirm(url);
  if (got.kind !== 'text') return got;
  const [, subscriptionArn] =
    /<SubscriptionArn>\s{0,100}(arn:[\w:.-]{1,400})\s{0,100}<\/SubscriptionArn>/.exec(got.text) ??
    [];
  const isOfTopic = subscriptionArn?.startsWith(`${TopicArn}:`) === true;
  return isOfTopic ? { kind: 'confirmed', subscriptionArn } : { kind: 'refused' };
};
