// What a sentence is about decides, in further wordings and in the opposite sense.
import { describeWordings } from './wordings.ts';
import type { Wordings } from './wordings.ts';

const SENDER = 'sender/sender_not_allowed/after_fix';
const LIMIT = 'account/account_limit/later';
const SUSPENDED = 'account/account_suspended/after_fix';
const OF_RECIPIENT = 'recipient/temporary_recipient/later';
const LOCAL = 'relay/temporary_local/later';
const TLS = 'connection/tls_required/after_fix';
const UNKNOWN = 'recipient/recipient_unknown/never';
const POLICY = 'recipient/recipient_policy/never';
const REPUTATION = 'relay/reputation_refused/after_fix';

const ACCOUNTS: readonly Wordings[] = [
  [
    'a stop that ends by itself is a limit',
    'data',
    LIMIT,
    [
      '554 Sending rate exceeded, account disabled until Tue, 23 Oct 2018 08:42:36 GMT',
      '550 Too many messages: sending suspended until tomorrow',
      '554 Your account sent too much; it is blocked for 1 hour',
      '550 Daily limit reached. Outgoing email paused until midnight',
      '550 Account locked for 24 hours, message limit exceeded',
      '554 Sending too fast, account disabled for 10 minutes',
      '550 5.7.1 Hourly volume exceeded, sending stopped until 14:00:00',
      '554 Your quota is used up, sending is on hold until Monday',
      '550 Limit of 300 messages / hour: account suspended for an hour',
      '550 Domain is limited to 50 emails/hour and is turned off until the next day',
    ],
  ],
  [
    'a stop without an end is a suspension',
    'data',
    SUSPENDED,
    [
      '554 Your account is suspended until you contact support',
      '550 Account disabled for abuse',
      '554 Your account has been disabled',
      '550 Outgoing mail is blocked until the password is changed',
    ],
  ],
  [
    'a relay that cannot at this time',
    'body',
    LOCAL,
    [
      '451 Unable to relay messages at this time, please try again later',
      '451 Cannot relay outbound messages at the moment',
      '451 Could not relay your message, try again later',
      '421 Failed to relay message; please retry',
      '451 4.3.0 Relaying is unavailable at this time',
      '450 Unable to forward mail right now',
      '451 Temporarily unable to relay',
      '451 Currently not able to relay mail',
      '451 Forwarding failed, try again later',
      '451 Not able to relay outbound email at present',
    ],
  ],
  [
    'a policy about relaying, whatever is said of later',
    'rcpt',
    'account/relay_denied/after_fix',
    [
      '454 4.7.1 Relay access denied, please try again later',
      '550 Relaying is not permitted at this time',
      '554 Unable to relay for this address',
      '550 Relaying denied by policy',
    ],
  ],
];

const RECIPIENTS: readonly Wordings[] = [
  [
    'a rate of the recipient',
    'rcpt',
    OF_RECIPIENT,
    [
      '451 The account <bob@rcpt.example> is configured not to accept more than 50 messages in a day',
      '451 This mailbox does not accept more than 20 messages per hour',
      '450 User can receive only 100 emails a day',
      '450 The recipient accepts at most 10 messages per minute',
      '451 This address cannot receive more than 30 mails per hour',
      '450 <bob@rcpt.example> accepts up to 40 messages per day',
      '550 This account will not accept more than 25 messages per day',
      '452 Mailbox takes no more than 60 messages per hour',
      '451 bob@rcpt.example gets more than 100 messages per hour',
      '450 The user receives more than 15 emails per minute',
    ],
  ],
  [
    'a rate of the account',
    'rcpt',
    LIMIT,
    [
      '451 Your account is configured not to send more than 50 messages per day',
      '450 You cannot send more than 20 messages per hour',
      '550 Sender exceeded 100 messages per hour',
    ],
  ],
  [
    'the exchanger of the domain that a message is for',
    'rcpt',
    OF_RECIPIENT,
    [
      '451 4.4.3 cannot find a mail exchanger for rcpt.example',
      '451 Unable to find MX for domain rcpt.example',
      '450 Could not resolve MX records for rcpt.example',
      '451 4.4.3 Failed to look up mail server for rcpt.example',
      '451 cannot determine MX host for recipient domain',
      "450 Can't get MX for rcpt.example",
      '451 could not obtain a mail exchanger for the recipient domain',
      "451 couldn't locate the MX for other.example",
      '450 4.4.3 did not find MX hosts for rcpt.example',
      '451 unable to locate mail exchangers for the destination',
    ],
  ],
  [
    'lists that the recipient keeps',
    'rcpt',
    POLICY,
    [
      '553 sorry, your envelope recipient is in my badrcptto list (#5.7.1)',
      '553 recipient found in badrcptto',
      '550 Address listed in badrcptto',
      '550 5.7.1 Recipient has unsubscribed from your list.',
      '550 The recipient is unsubscribed',
      '550 subscriber has unsubscribed',
      '550 <bob@rcpt.example> unsubscribed',
      '550 Contact was unsubscribed',
      '550 bounced check filter',
      '550 recipient already unsubscribed from this list',
    ],
  ],
  [
    'an address that cannot be right',
    'rcpt',
    UNKNOWN,
    [
      '501 recipient address must contain a domain',
      '550 Recipient must have a domain',
      '501 recipient address should include a domain name',
      '501 recipient lacks a domain',
      '501 recipient address without domain',
      '554 5.0.0 unresolvable address: <bob@rcpt.example>',
      '554 nosuchuser',
      '550 nosuchmailbox',
      '550 bob: nosuchuser; see the postmaster',
      '550 unresolvable recipient address',
    ],
  ],
];

const SENDERS: readonly Wordings[] = [
  [
    'the sender',
    'mail',
    SENDER,
    [
      '501 from domain not trusted',
      '550 sender domain is not trusted',
      '550 From address is not yet approved',
      '553 sending domain not confirmed',
      '553 Local user only, smtp5',
      '553 only local senders',
      '503 5.7.1 Incorrect Authentication for Specified Email Address',
      '550 wrong login for this sender',
      '550 This user is not authorized to send messages with the address news@sender.example',
      '550 Filter: sender not in allow list',
      '550 You are logged in as another user',
      '550 Account is not allowed to send email as <news@sender.example>',
    ],
  ],
  [
    'the machine that sends',
    'mail',
    REPUTATION,
    [
      '550 Host 192.0.2.1 is not trusted',
      '550 your IP is not trusted',
      '550 ip in prison',
      '550 5.7.1 Your server was put into the penalty box',
    ],
  ],
  [
    'encryption',
    'mail',
    TLS,
    [
      '530 5.7.7 Email sending without SSL/TLS encryption is not allowed',
      '530 Transport layer security required - please enable TLS and try again',
      '530 Login without TLS is forbidden',
      '550 Sending without encryption is not permitted',
      '530 Unencrypted connections are not allowed',
      '530 insecure connection refused',
      '530 Please enable SSL',
      '530 SSL/TLS required',
      '550 Non-TLS connections are rejected',
      '530 please switch on STARTTLS and try again',
    ],
  ],
  [
    'encryption that fails for now',
    'mail',
    LOCAL,
    [
      '454 TLS currently unavailable, try again later',
      '454 TLS not available due to temporary reason',
    ],
  ],
  [
    'a session that waited too long',
    'any',
    'connection/connection_limit/later',
    [
      '421 mx.example Service closing transmission channel - command timeout',
      '421 command timed out',
      '421 session timeout, closing',
      '421 4.4.2 idle timeout',
      '421 closing channel: inactivity timeout',
    ],
  ],
  [
    'a lookup that took too long',
    'any',
    LOCAL,
    ['451 DNS timeout', '451 backend timeout', '451 4.3.0 milter timed out'],
  ],
];

describeWordings([...ACCOUNTS, ...RECIPIENTS, ...SENDERS]);
