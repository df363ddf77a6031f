import type { NameServers } from '../base/resolve_host.ts';
import type { HttpsTimeouts } from '../base/https.ts';
import type { TraceHeader } from '../base/traceparent.ts';
import type { FailureReason, PreflightOutcome, SendOutcome } from './outcome.ts';
import type { SmtpTimeouts } from './smtp_timeouts.ts';

/** How long after the commit that a message may go out its first byte may be put on the wire. */
export const HAND_OFF_DEADLINE_MS = 5_000;

/** A message ready for the wire. `mayStart` is asked immediately before its first byte. */
export type WireMessage = {
  /** Comes back in the provider's feedback, where the provider echoes something of ours. */
  sendId: string;
  from: string;
  to: string;
  raw: Buffer;
  /** Of the request that carries it; SMTP has no place for one. */
  trace?: TraceHeader;
  mayStart: () => boolean;
};

/** An open way to a provider, with the credentials proved where that is possible before a message. */
export type Link = {
  readonly isOpen: boolean;
  send: (message: WireMessage) => Promise<SendOutcome>;
  close: () => void;
};

/** Nothing was given to the provider when it failed: the outcome is the hand-off's. */
export type ConnectOutcome =
  { kind: 'connected'; link: Link } | { kind: 'failed'; outcome: SendOutcome };

/** Where connections may go, and where the two HTTPS providers are. Set by the operator. */
export type Network = {
  allowNetworks: readonly string[];
  nameServers: NameServers;
  /** Base address of SMTP2GO's API, version included. */
  relayApiUrl: string;
  /** Base address of Amazon SES instead of the region's own; null for that. */
  cloudApiUrl: string | null;
  /** How mail connections introduce themselves; null for the machine's own name. */
  ehloName: string | null;
  /** How long providers may take, where that is not as usual. */
  httpsTimeouts?: HttpsTimeouts;
  smtpTimeouts?: SmtpTimeouts;
  /** How long an answer to a whole message is waited for. Past it the outcome is unknown. */
  answerTimeoutMs: number;
};

/**
 * One way of handing mail to a provider. No transport tries again by itself, and none throws: what
 * went wrong is the answer.
 */
export type Transport<Settings> = {
  /** Proves that settings and sender work. Sends nothing where the provider can say so without. */
  preflight: (settings: Settings, network: Network, fromEmail: string) => Promise<PreflightOutcome>;
  connect: (settings: Settings, network: Network) => Promise<ConnectOutcome>;
};

export const failed = (reason: FailureReason): PreflightOutcome => ({ kind: 'failed', reason });
