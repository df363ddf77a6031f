import { isCertificateCode } from '../../base/tls_errors.ts';
import type { MailboxSettings } from './imap.ts';

/** Why a bounce mailbox cannot be read. */
export const MAILBOX_FAILURES = [
  'bounce_mailbox_unreachable',
  'bounce_mailbox_tls_required',
  'bounce_mailbox_starttls_not_offered',
  'bounce_mailbox_certificate_invalid',
  'bounce_mailbox_login_refused',
  'bounce_mailbox_folder_missing',
  'bounce_mailbox_unusable',
] as const;
export type MailboxFailure = (typeof MAILBOX_FAILURES)[number];

/** What the library reports of a failure; every member may be missing. */
type ImapError = {
  code?: string;
  authenticationFailed?: boolean;
  serverResponseCode?: string;
  tlsFailed?: boolean;
  mailboxMissing?: boolean;
};

/** What passes by itself, whatever command it answers (RFC 5530 §3). */
const PASSING = ['UNAVAILABLE', 'INUSE', 'LIMIT', 'OVERQUOTA', 'SERVERBUG', 'CONTACTADMIN'];

const MISSING = ['NONEXISTENT', 'TRYCREATE'];

const NO_CONNECTION =
  /^(?:E(?:CONN(?:REFUSED|RESET|ABORTED)|HOSTUNREACH|NETUNREACH|TIMEDOUT|PIPE)|\w{1,20}_TIMEOUT)$/;

/** Returns the class of a failure that the library, TLS or the network reports. */
export const toMailboxFailure = (
  error: unknown,
  secure: MailboxSettings['secure'],
): MailboxFailure => {
  const said = (error ?? {}) as ImapError;
  const { code = '', serverResponseCode = '' } = said;
  if (isCertificateCode(code)) return 'bounce_mailbox_certificate_invalid';
  if (said.authenticationFailed)
    return PASSING.includes(serverResponseCode)
      ? 'bounce_mailbox_unusable'
      : 'bounce_mailbox_login_refused';
  if (said.tlsFailed && secure === 'starttls') return 'bounce_mailbox_starttls_not_offered';
  if (said.mailboxMissing || code === 'NotFound' || MISSING.includes(serverResponseCode))
    return 'bounce_mailbox_folder_missing';
  return NO_CONNECTION.test(code) || code.startsWith('ERR_SSL')
    ? 'bounce_mailbox_unreachable'
    : 'bounce_mailbox_unusable';
};
