import { once } from 'node:events';
import { isIP } from 'node:net';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { SMTPConnectionSendInfo } from 'nodemailer/lib/smtp-connection';
import { resolveEgress } from '../base/egress.ts';
import type { PreflightOutcome, SendOutcome } from './outcome.ts';
import type { SmtpSettings } from './settings.ts';
import {
  classify,
  isContradictory,
  LOGIN_REQUIRED,
  TLS_REQUIRED,
  toOutcome,
} from './smtp_errors.ts';
import { toReply } from './reply.ts';
import type { Parties } from './reply.ts';
import type { Phase, SmtpError } from './smtp_errors.ts';
import { findRefusal } from './smtp_refusal.ts';
import { bodyOf } from './smtp_body.ts';
import { customAuth, openSession, secretsOf } from './smtp_login.ts';
import { sendTimeoutMs, SMTP_TIMEOUTS } from './smtp_timeouts.ts';
import type { SmtpTimeouts } from './smtp_timeouts.ts';
import { failed } from './transport.ts';
import type { Link, Network, Transport, WireMessage } from './transport.ts';

/** Replies are a few lines. */
export const REPLY_BYTES_MAX = 64 * 1024;

/** Where an SMTP connection may go. */
type Way = Pick<
  Network,
  'allowNetworks' | 'nameServers' | 'ehloName' | 'answerTimeoutMs' | 'smtpTimeouts'
>;
/** How long the steps of a hand-off may take. */
type Patience = SmtpTimeouts & { answerMs: number };

/** An open connection, authenticated where the settings have a login, or why there is none. */
export type SmtpConnected =
  { kind: 'connected'; link: Link } | { kind: 'failed'; error: SmtpError };

/** Amazon SES, and Exim (so also relays built on it). */
const ACCEPTED_AS = [
  /^250 Ok ([0-9a-f]+(?:-[0-9a-f]+)+)$/i,
  /^250 (?:2\.\d+\.\d+ )?OK id=([\w-]{1,100})$/i,
];

/**
 * The id by which the relay's feedback will name the message, where its answer has one in a known
 * form. The mail library knows SES by its host, and we connect to an address.
 */
const toProviderMessageId = (info?: SMTPConnectionSendInfo): string | null => {
  const response = info?.response?.trim() ?? '';
  const [found] = ACCEPTED_AS.flatMap((form) => form.exec(response)?.[1] ?? []);
  return found ?? info?.serverMessageId ?? null;
};

const acceptedAs = (info: SMTPConnectionSendInfo | undefined, parties: Parties): SendOutcome => ({
  kind: 'accepted',
  providerMessageId: toProviderMessageId(info),
  ...(info?.response ? { reply: toReply(info.response, parties) } : {}),
});

const sendOver = (
  connection: SMTPConnection,
  message: WireMessage,
  { commandsMs, bodyMs, answerMs, secrets }: Patience & { secrets: readonly string[] },
): Promise<SendOutcome> =>
  new Promise((resolve) => {
    const parties = { from: message.from, to: message.to, secrets };
    let phase: Phase = 'before_body';
    const onLost = (error: SmtpError) =>
      settle(toOutcome(findRefusal(connection) ?? error, phase, parties));
    const settle = (outcome: SendOutcome) => {
      clearTimeout(tooLong);
      connection.off('error', onLost);
      resolve(outcome);
    };
    const onTooLong = () => {
      onLost(Object.assign(new Error('takes too long'), { code: 'ETIMEDOUT' }));
      connection.close();
    };
    let tooLong = setTimeout(onTooLong, commandsMs);
    const waitAnew = (ms: number) => {
      clearTimeout(tooLong);
      tooLong = setTimeout(onTooLong, ms);
    };
    const body = bodyOf(message, {
      socket: connection._socket || null,
      onStart: () => {
        phase = 'body';
        waitAnew(bodyMs);
      },
      onEnd: () => waitAnew(answerMs),
    });
    // Without its first byte and without its end, the relay has nothing to take.
    body.once('error', () => {
      settle({ kind: 'not_started' });
      connection.close();
    });
    connection.on('error', onLost);
    connection.send(
      { from: message.from, to: [message.to] },
      body,
      (error: Error | null, info?: SMTPConnectionSendInfo) => {
        const failure = error as SmtpError | null;
        const isOdd = phase === 'body' && isContradictory(failure?.response ?? info?.response);
        if (isOdd) settle({ kind: 'unknown' });
        else if (failure) settle(toOutcome(failure, phase, parties));
        else settle(acceptedAs(info, parties));
      },
    );
  });

const toLink = (
  connection: SMTPConnection,
  patience: Patience & { secrets: readonly string[] },
): Link => {
  let isOpen = true;
  connection.on('error', () => (isOpen = false));
  connection.once('end', () => (isOpen = false));
  return {
    get isOpen() {
      return isOpen;
    },
    send: async (message) => {
      const outcome = await sendOver(connection, message, patience);
      // After a definite answer the relay waits for the next message; after anything else, who knows.
      if (outcome.kind !== 'accepted') {
        isOpen = false;
        connection.close();
      }
      return outcome;
    },
    close: () => {
      isOpen = false;
      connection.quit();
      // Who does not say farewell, or takes for ever to, holds no connection of ours.
      const tooLong = setTimeout(() => connection.close(), patience.quitMs).unref();
      connection.once('end', () => clearTimeout(tooLong));
    },
  };
};

const tlsOptions = {
  starttls: { requireTLS: true },
  ssl: { secure: true },
  none: { ignoreTLS: true },
} as const;

const open = async (
  connection: SMTPConnection,
  settings: SmtpSettings,
  { openMs }: SmtpTimeouts,
): Promise<void> => {
  const failed = once(connection, 'error').then(([error]) => {
    throw error as SmtpError;
  });
  failed.catch(() => {});
  const tooLong = setTimeout(
    () => connection.emit('error', Object.assign(new Error('too slow'), { code: 'ETIMEDOUT' })),
    openMs,
  );
  const session = openSession(connection, settings);
  session.catch(() => {});
  try {
    await Promise.race([session, failed]);
  } finally {
    clearTimeout(tooLong);
  }
};

const refused = (code: string): SmtpConnected => ({
  kind: 'failed',
  error: Object.assign(new Error('not connected to'), { code }),
});

/**
 * Connects to the checked address, with the chosen TLS mode, and authenticates, or fails. Without a login it connects
 * only where all addresses of the host are inside the allowed networks.
 */
export const connectSmtp = async (
  settings: SmtpSettings,
  { allowNetworks, nameServers, ehloName, answerTimeoutMs, smtpTimeouts = SMTP_TIMEOUTS }: Way,
): Promise<SmtpConnected> => {
  const { smtp_host: host, smtp_port: port, smtp_secure: secure } = settings;
  const answer = await resolveEgress(host, allowNetworks, nameServers);
  // A name that nobody knows and a private address look alike: names inside are nobody's to find out.
  if (answer.kind !== 'open') return refused('EDNS');
  const isInside = answer.isInAllowedNetwork;
  if (settings.username === null && !isInside) return refused(LOGIN_REQUIRED);
  if (secure === 'none' && !isInside) return refused(TLS_REQUIRED);
  const connection = new SMTPConnection({
    host: answer.address,
    port,
    secure: false,
    ...tlsOptions[secure],
    ...(ehloName === null ? {} : { name: ehloName }),
    customAuth,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    tls: { minVersion: 'TLSv1.2', ...(isIP(host) === 0 ? { servername: host } : {}) },
    connectionTimeout: smtpTimeouts.connectMs,
    greetingTimeout: smtpTimeouts.connectMs,
    socketTimeout: sendTimeoutMs(answerTimeoutMs, smtpTimeouts),
    maxResponseSize: REPLY_BYTES_MAX,
    allowInternalNetworkInterfaces: true,
  });
  try {
    await open(connection, settings, smtpTimeouts);
    const secrets = secretsOf(settings);
    const patience = { ...smtpTimeouts, answerMs: answerTimeoutMs, secrets };
    return { kind: 'connected', link: toLink(connection, patience) };
  } catch (error) {
    connection.close();
    return { kind: 'failed', error: error as SmtpError };
  }
};

/** Before a message there is neither a sender nor a recipient. */
const withoutParties = (settings: SmtpSettings): Parties => ({
  from: '',
  to: '',
  secrets: secretsOf(settings),
});

/** Proves that settings work: connect, TLS mode, EHLO, AUTH where there is a login. Sends nothing. */
export const preflightSmtp = async (
  settings: SmtpSettings,
  network: Way,
): Promise<PreflightOutcome> => {
  const outcome = await connectSmtp(settings, network);
  if (outcome.kind === 'failed') return failed(classify(outcome.error, withoutParties(settings)));
  outcome.link.close();
  return { kind: 'passed' };
};

/** Any relay that speaks SMTP (RFC 5321) with AUTH PLAIN or LOGIN, or one of the operator's own without AUTH. */
export const smtp: Transport<SmtpSettings> = {
  preflight: preflightSmtp,
  connect: async (settings, network) => {
    const outcome = await connectSmtp(settings, network);
    return outcome.kind === 'connected'
      ? outcome
      : {
          kind: 'failed',
          outcome: toOutcome(outcome.error, 'before_body', withoutParties(settings)),
        };
  },
};
