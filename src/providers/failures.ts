/** A failure in people's words: where it usually comes from, and what to do. */
export type Explanation = { cause: string; fix: string };

/** What is known about each class of failure. The first lines are the API's own table of failures. */
export const explanations = {
  connection_failed: {
    cause:
      'Wrong host or port, an egress firewall, another TLS mode than the port speaks, or a private address.',
    fix:
      'Check host, port and smtp_secure. Where 25, 587 and 465 are blocked, try port 2525 with STARTTLS; ' +
      'a relay that says nothing on its port may want "ssl". A private address is connected to only where the ' +
      'operator of this installation lists its network in EGRESS_ALLOW_NETWORKS.',
  },
  connection_limit: {
    cause:
      'The relay allows fewer connections at a time, or fewer messages over one, than were used.',
    fix: 'You need not act: Trunkline goes on over fewer, new connections.',
  },
  connection_refused_by_policy: {
    cause:
      "The relay answered, and does not talk to this machine: the machine's address is on a block list, or not " +
      'among those that the relay allows.',
    fix:
      'Ask whoever runs the relay to allow the address of this installation; use the ' +
      "relay's port for submission, 587 or 465, where a login counts and not the address; look the address up in " +
      'the public block lists, and have it taken off.',
  },
  tls_required: {
    cause:
      'Without TLS the password could be read on its way, so smtp_secure "none" is not for public hosts.',
    fix:
      'Set smtp_secure to "starttls" (usual for port 587) or "ssl" (port 465). For a relay in your own network ' +
      'the operator of this installation lists that network in EGRESS_ALLOW_NETWORKS.',
  },
  login_required: {
    cause:
      'The record has no login, and the relay is not inside the networks of this installation (any more).',
    fix:
      'Set username and password. A relay without a login must have all its addresses inside EGRESS_ALLOW_NETWORKS, ' +
      'which the operator of this installation sets.',
  },
  auth_not_offered: {
    cause:
      'The relay offers no login (AUTH PLAIN or LOGIN) on this port, or not with this TLS mode.',
    fix:
      'Use the port for submission, 587 with "starttls" or 465 with "ssl", and switch authentication on at the ' +
      'relay. The credentials are not the reason. For a relay in your own network that takes email without a ' +
      'login, leave username and password out.',
  },
  authentication_failed: {
    cause:
      'A rotated password, a user scoped to another domain, or an app-specific password required.',
    fix: 'Create the credentials again at the relay and update the record.',
  },
  starttls_not_offered: {
    cause: 'The relay needs implicit TLS.',
    fix: 'Set smtp_secure to "ssl" and use port 465.',
  },
  sender_not_verified: {
    cause: 'from_email is not under a verified identity, or not in the configured region.',
    fix: 'Verify the domain of from_email at the provider; confirm its region and its DKIM status.',
  },
  sender_domain_problem: {
    cause: 'The relay cannot resolve the domain of from_email, or its DNS records are wrong.',
    fix: 'Look at the domain health of this provider, and correct the DNS records of the domain of from_email.',
  },
  invalid_key: {
    cause:
      'The key was deleted, rotated or deactivated, or belongs to another region of the provider.',
    fix: 'Mint a new send-scoped key and update the record.',
  },
  region_mismatch: {
    cause: "The host's region differs from the one in which the domain is verified.",
    fix: 'Match region and host to the region of the verified domain.',
  },
  throttled: {
    cause: 'The account is over its quota per second, or the provider is busy.',
    fix:
      'You need not act now: Trunkline repeats sends with exponential backoff. Raise the quota at the provider if ' +
      'it stays so.',
  },
  certificate_invalid: {
    cause: 'The certificate is not valid for this host, has expired, or nobody vouches for it.',
    fix: "Use the host name that the relay's certificate was issued for.",
  },
  permission_denied: {
    cause: 'The key may not send, or not from this address.',
    fix: 'Give the key the permission to send (for Amazon SES: ses:SendEmail and ses:SendRawEmail).',
  },
  account_blocked: {
    cause: 'The provider has suspended the account or paused its sending.',
    fix: 'Clear it up with the provider.',
  },
  account_refused: {
    cause:
      'The provider refuses requests of this account: a setting at the provider is missing or wrong.',
    fix: 'Read the answer in the send log, and correct the setting at the provider; then send a test message.',
  },
  sandboxed: {
    cause: 'A new account is sandboxed: it may send to verified recipients only.',
    fix: 'Ask the provider for production access, or verify the recipient.',
  },
  quota_exhausted: {
    cause: "The account's quota of the day or month, or of its plan, is used up.",
    fix: 'Raise the quota at the provider. Trunkline repeats sends until they expire.',
  },
  provider_unavailable: {
    cause: 'The provider answers with errors of its own, or not in a way that we understand.',
    fix: 'You need not act now: Trunkline repeats sends with exponential backoff.',
  },
  reputation_refused: {
    cause:
      'A receiver does not trust the relay or the sender: a block list, or missing authentication.',
    fix:
      'Look at the domain health of this provider. Look the domain and the relay up in the public block lists, and ' +
      'ask the provider to have the relay removed.',
  },
  identical_refusals: {
    cause:
      'The same answer came to several recipients, and the provider accepted no email in between. The cause is the ' +
      'account, the sender, or what these emails have in common, such as one template.',
    fix:
      'Read the answer. If it is about the account or the sender, correct that at the provider, send a test message, ' +
      'and queue the rejected emails again. If it is about the content, correct the template, give the automation ' +
      'the new version, and cancel emails that wait with the old one. An email that you queue again keeps its ' +
      'template version.',
  },
  asserted_refused: {
    cause:
      'The provider did not take the email, which showed values that only a browser asserted. They may be the cause.',
    fix: 'You need not act: Trunkline sends it again without these values.',
  },
  recipient_refused: {
    cause: 'The provider refused the recipient.',
    fix: 'Check the address.',
  },
  recipient_deferred: {
    cause:
      'The recipient is not taken for now: a greylist, a full mailbox, or a receiver that is busy.',
    fix: 'You need not act: Trunkline repeats the send with exponential backoff.',
  },
  blocked_by_policy: {
    cause:
      'The relay does not pass mail on from this login or sender to this recipient: its policy, not the address.',
    fix: 'Let the login relay to addresses elsewhere, and from from_email, or ask whoever runs the relay.',
  },
  message_refused: {
    cause: 'The provider refused the message.',
    fix: 'Check its size and content, and the rules of the provider.',
  },
  bounce_mailbox_unreachable: {
    cause: 'Wrong host or port of the bounce mailbox, an egress firewall, or a private address.',
    fix:
      'Check host, port and secure of the bounce mailbox: usually 993 with "ssl". Trunkline connects to a private ' +
      'address only where the operator of this installation lists its network in EGRESS_ALLOW_NETWORKS.',
  },
  bounce_mailbox_tls_required: {
    cause: 'Without TLS others could read the password of the bounce mailbox on its way.',
    fix:
      'Set secure of the bounce mailbox to "ssl" (port 993) or "starttls" (port 143). For a server in your own ' +
      'network the operator of this installation lists that network in EGRESS_ALLOW_NETWORKS.',
  },
  bounce_mailbox_starttls_not_offered: {
    cause: 'The IMAP server of the bounce mailbox offers no STARTTLS on this port.',
    fix: 'Set secure of the bounce mailbox to "ssl" and use port 993.',
  },
  bounce_mailbox_certificate_invalid: {
    cause:
      'The certificate of the IMAP server is not valid for this host, has expired, or comes from an unknown authority.',
    fix: 'Use the host name that the certificate of the IMAP server was issued for.',
  },
  bounce_mailbox_login_refused: {
    cause: 'The IMAP server refused the user name or the password of the bounce mailbox.',
    fix:
      'Create the password again, an app-specific one where the server requires that, and save the bounce mailbox. ' +
      'Trunkline does not read it until then.',
  },
  bounce_mailbox_folder_missing: {
    cause: 'The bounce mailbox has no such folder.',
    fix: 'Check folder and move_to of the bounce mailbox, or create the folder.',
  },
  bounce_mailbox_unusable: {
    cause:
      'The IMAP server answers with errors of its own, too slowly, or with more than Trunkline takes.',
    fix: 'Check the state of the IMAP server. Trunkline tries again with exponential backoff.',
  },
  outcome_unknown: {
    cause:
      'The connection was lost, or the provider said nothing, after the message had been written.',
    fix: "Look for the message in the mailbox, or in the provider's log, before you repeat it.",
  },
  too_slow: {
    cause: 'This process was held up between deciding to send and sending, so it did not.',
    fix: 'Repeat the request.',
  },
} as const satisfies Record<string, Explanation>;

export type ExplainedFailure = keyof typeof explanations;

/** Where somebody has saved or tested a record nothing is repeated by itself: they try again. */
const fixesByHand: Partial<Record<ExplainedFailure, string>> = {
  connection_limit:
    'Wait a minute, or close other connections to the relay; then try again yourself. Trunkline repeats nothing here.',
  bounce_mailbox_login_refused:
    'Create the password again, an app-specific one where the server requires that, then try again.',
  throttled:
    'Wait a minute, then try again yourself: this is not repeated. Raise the quota at the provider if it stays so.',
  recipient_deferred:
    'Wait some minutes, then try again yourself: a test is not repeated, a send of an automation is.',
  quota_exhausted:
    'Raise the quota at the provider, or wait until it begins anew; then try again yourself.',
  provider_unavailable:
    'Wait some minutes, then try again yourself: this is not repeated. See what the provider says of its state.',
};

/** A failure as an answer to a person tells it: its class, cause and fix. Nothing of what the other side said. */
export const toFailure = (reason: ExplainedFailure) => ({
  reason,
  cause: explanations[reason].cause,
  fix: fixesByHand[reason] ?? explanations[reason].fix,
});

/** The same of a failure for which a provider is parked: with what ends that. */
export const toParked = (reason: ExplainedFailure) => {
  const failure = toFailure(reason);
  const ends = 'It is used again once you save the provider again or a test message is taken.';
  return { ...failure, fix: `${failure.fix} ${ends}` };
};

export const isExplained = (reason: string): reason is ExplainedFailure =>
  Object.hasOwn(explanations, reason);

/** What to do about a failure; null where it is none of a provider's. */
export const fixOf = (reason: string | null): string | null =>
  reason !== null && isExplained(reason) ? explanations[reason].fix : null;
