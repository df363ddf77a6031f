// The reason that a reply gives decides, in further wordings and in the opposite sense.
import { describeWordings } from './wordings.ts';
import type { Wordings } from './wordings.ts';

const LOCAL = 'relay/temporary_local/later';
const REPUTATION = 'relay/reputation_refused/after_fix';
const REPUTATION_LATER = 'relay/reputation_refused/later';
const TOO_LARGE = 'message/message_too_large/never';
const TLS = 'connection/tls_required/after_fix';
const LOGIN_FAILED = 'account/auth_failed/after_fix';
const LOGIN_NEEDED = 'account/auth_required_or_policy/after_fix';
const LOGIN_LIMIT = 'account/connection_limit/later';
const SUSPENDED = 'account/account_suspended/after_fix';
const SENDER = 'sender/sender_not_allowed/after_fix';
const SENDER_DNS = 'sender/dns_sender_problem/after_fix';
const SENDER_SYNTAX = 'sender/line_or_syntax/after_fix';
const CONNECTIONS = 'connection/connection_limit/later';
const FULL = 'recipient/mailbox_full/later';
const OF_RECIPIENT = 'recipient/temporary_recipient/later';

const OF_SERVER: readonly Wordings[] = [
  [
    'the load of the server',
    'connect',
    LOCAL,
    [
      '451 Connection refused from 192.0.2.1 because the server is too busy',
      '421 Connection from IP 192.0.2.1 rejected: the system is too busy',
      '421 Access denied for 192.0.2.1, server overloaded',
      '451 Connection rejected due to high load',
      '421 We refuse connections because of excessive system load',
      '421 host refused: load average is too high',
      '450 Connection from host mx.sender.example refused since we are very busy',
      '421 Connections from 192.0.2.1 are temporarily refused, the machine is extremely busy',
      '451 refused connection: heavy server load',
      '421 Your connection is refused due to heavy load',
      '554 Connection refused, this server is too busy',
    ],
  ],
  [
    'a machine that is refused for what it does',
    'connect',
    REPUTATION_LATER,
    [
      '451 Connection refused, your IP is on a block list',
      '421 Connection refused: high rate of spam from 192.0.2.1',
      '450 Connection from 192.0.2.1 refused for poor reputation',
      '451 Connection refused, your server is too busy with spam',
    ],
  ],
  [
    'connections that are too many, whatever is said of load',
    'connect',
    CONNECTIONS,
    [
      '421 Too many connections, the server is too busy',
      '421 Too many concurrent connections from 192.0.2.1; we are busy',
      '421 Maximum number of connections reached due to high load',
    ],
  ],
  [
    'the disk of the server',
    'any',
    LOCAL,
    [
      '431-4.3.1 STOREDRV; disk is full',
      '431 4.3.1 STOREDRV.Storage; disk is full',
      '452 4.3.1 Insufficient system storage',
      '452 4.3.1 Out of disk space',
      '452 4.3.1 No space left on device',
      '451 4.3.1 Spool is full',
      '452 4.3.1 Volume full, message not queued',
      '552 5.3.1 System storage exceeded',
      '452 4.3.1 Mail system full',
      '450 4.3.1 disk full',
      '452 4.3.1 The file system is full',
    ],
  ],
  [
    'the space of a mailbox',
    'any',
    FULL,
    [
      '552 5.2.2 Mailbox full',
      '452 4.2.2 STOREDRV.Deliver; mailbox full',
      '552 5.2.2 User is over disk quota',
      '452 4.3.1 The mailbox is full',
      '452 4.2.2 <bob@rcpt.example> has used all of the disk quota',
      '432 4.2.2 STOREDRV; mailbox is full',
    ],
  ],
  [
    'the machine that sends',
    'mail',
    REPUTATION,
    [
      '550 Sorry, no access for this ip',
      '550 no access for your ip',
      '554 No service for your network',
      '550 No access for this IP address',
      '550 no mail from this ip',
      '554 no entry for that host',
      '550 This IP has no access',
      '554 Your network has no permission',
      '550 No connections from your IP address',
      '550 no SMTP access for 192.0.2.1',
    ],
  ],
  [
    'the machine that sends, for now',
    'mail',
    REPUTATION_LATER,
    ['450 no access for this ip', '421 No service for your network', '451 Your IP has no access'],
  ],
];

const OF_MESSAGE: readonly Wordings[] = [
  [
    'the size of a submission',
    'body',
    TOO_LARGE,
    [
      '554 5.2.0 STOREDRV.Submission.Exception:MessageSubmissionExceededException.MapiExceptionMaxSubmissionExceeded',
      '554 5.2.0 STOREDRV.Deliver.Exception:StorageTransientException.MapiExceptionMaxAttachmentExceeded',
      '554 5.2.0 STOREDRV.Submission.Exception:MessageTooBigException; Failed to process message',
      '554 5.2.0 STOREDRV.Submission; MapiExceptionMessageTooLarge',
      '554 Maximum submission size exceeded',
      '552 The submission is larger than 20 MB',
      '552 Submission size over limit',
      '554 message exceeds the maximum submission size',
      '554 max submission length exceeded',
      '552 submission size 31457280 exceeds 20971520',
    ],
  ],
  [
    'the number of submissions',
    'body',
    'sender/account_limit/later',
    [
      '554 5.2.0 STOREDRV.Submission.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded',
      '554 5.2.0 STOREDRV.Submission.Exception:QuotaExceededException; sender over quota',
    ],
  ],
  [
    'the number of submissions of an account',
    'body',
    'account/account_limit/later',
    [
      '554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException',
      '550 Submission rate exceeded, 200 per hour',
      '550 Maximum of 500 messages per day exceeded',
    ],
  ],
];

const OF_LOGIN: readonly Wordings[] = [
  [
    'encryption, whatever is said of the login',
    'auth',
    TLS,
    [
      '530 Login fail. A secure connection is requiered(such as ssl).',
      '530 Login failed: secure connection required',
      '535 Authentication failed. A secure connection is needed',
      '530 Login fail, an SSL connection is requierd',
      '530 Authentication refused: encrypted connection is mandatory',
      '538 login denied, encryption is requierd',
      '530 Login not accepted. Encryption is obligatory',
      '530 Auth failed, TLS is compulsory',
      '535 5.7.0 Login failed. SSL is enforced',
      '530 SSL/TLS requiered',
    ],
  ],
  [
    'a login that fails, whatever is said of encryption',
    'auth',
    LOGIN_FAILED,
    [
      '535 The token of the user has expired',
      '535 Login fail. Authorization code is requiered',
      '535 Login failed over a secure connection: wrong password',
      '535 SSL login failed',
    ],
  ],
  [
    'logins that are too many',
    'auth',
    LOGIN_LIMIT,
    [
      '535 auth failed (this user authenticate too many times)',
      '535 Authentication failed: the account authenticates too often',
      '535 login refused, user logged in too many times',
      '535 You are authenticating too frequently',
      '454 You log in too often, slow down',
      '535 User logs in too fast',
      '535 auth failed, too many authentications',
      '454 4.7.0 too frequent logins',
      '535 login denied: too many logons',
      '535 user signed in too many times',
    ],
  ],
  [
    'a login that failed too often',
    'auth',
    LOGIN_FAILED,
    [
      '535 Too many failed login attempts',
      '535 authentication failed too many times',
      '455 4.3.0 Too many authentication errors, disconnecting.',
      '535 too many invalid logins',
      '535 You failed to authenticate too many times',
    ],
  ],
  [
    'a login that is missing',
    'mail',
    LOGIN_NEEDED,
    [
      '550 Authenticated connections only.',
      '550 authenticated users only',
      '530 Authenticated SMTP connections only',
      '550 Only authenticated connections',
      '550 We accept only authenticated clients',
      '554 This port takes authenticated submissions only',
      '550 This server only serves authenticated sessions',
      '550 logged-in users only',
      '530 only for authenticated clients',
      '530 Authentication is requiered',
    ],
  ],
  [
    'a sender that a list does not take',
    'rcpt',
    'recipient/recipient_policy/never',
    [
      '550 5.7.1 This group accepts email from authenticated senders only',
      '550 5.7.1 <bob@rcpt.example> accepts only authenticated users',
      '550 5.7.1 This mailbox accepts email from authenticated users only',
      '550 5.7.133 Only internal senders may send to this mailing list',
    ],
  ],
];

const OF_ACCOUNT: readonly Wordings[] = [
  [
    'the account above the login',
    'mail',
    SUSPENDED,
    [
      '551 Main account unavailable',
      '551 The main account is unavailable',
      '550 Primary account is suspended',
      '451 Parent account suspended',
      '451 4.7.1 The master account has been disabled',
      '550 Owner account is in arrears',
      '421 Reseller account locked',
      '554 The reseller account is not available',
      '550 Suspended main account',
      "450 The customer's account has been blocked",
    ],
  ],
  [
    'an account that is back soon',
    'mail',
    LOCAL,
    [
      '451 Main account temporarily unavailable',
      '451 Main account unavailable, try again later',
      '451 Account database unavailable',
    ],
  ],
  ['an account of unknown owner', 'rcpt', LOCAL, ['550 Main account unavailable']],
  [
    'an account that a message is for',
    'rcpt',
    'recipient/recipient_disabled/never',
    ['550 5.2.1 Account disabled', '550 5.2.1 <bob@rcpt.example> user account is unavailable'],
  ],
  [
    'a suspended account, whatever is said of the present',
    'auth',
    SUSPENDED,
    [
      '435 Unable to authenticate at present: account suspended',
      '435 Unable to authenticate at present: user disabled',
      '454 4.7.0 Cannot authenticate now: the account has been suspended',
      '454 Authentication temporarily not possible: mailbox closed',
      '435 Unable to authenticate at this time (account locked)',
      '535 Unable to authenticate at present: account suspended',
      '454 Temporary authentication failure: the account has been terminated',
      '432 Unable to authenticate at present, blocked user',
      '454 4.7.0 The customer is suspended',
      '421 Your account is frozen',
    ],
  ],
  [
    'a login that is possible again soon',
    'auth',
    LOCAL,
    [
      '435 Unable to authenticate at present',
      '454 4.7.0 Temporary authentication failure',
      '454 Authentication service is disabled at present, try again later',
      '454 Unable to authenticate at present: user database is locked',
      '451 Cannot authenticate now: connection to the directory closed',
    ],
  ],
];

const OF_SENDER: readonly Wordings[] = [
  [
    'a sender that DNS has to know',
    'mail',
    SENDER_DNS,
    [
      '451 From:domain must resolve',
      '451 From: domain must resolve',
      '450 The sender domain must resolve',
      '451 Sender domain has to resolve',
      '450 mail from domain needs to be resolvable',
      '451 Your domain must resolve',
      '451 The domain of the sender must resolve',
      '450 domain in From: must be found in DNS',
      '550 envelope from domain should resolve',
      '451 return path domain must resolve',
    ],
  ],
  [
    'a sender whose name servers answer badly',
    'rcpt',
    SENDER_DNS,
    [
      '450 4.1.8 <news@sender.example>: Sender address rejected: Malformed DNS server reply',
      '550 5.1.8 Sender address rejected: malformed DNS response',
      '450 4.1.8 Sender address rejected: invalid DNS reply',
      '450 Sender address rejected: bad name server answer',
      '550 Sender rejected: broken DNS data',
      '450 Sender domain: malformed nameserver response',
      '450 4.1.8 <news@sender.example>: Sender address rejected: Domain not found',
      '550 Malformed DNS reply for the sender',
      '450 From address: empty DNS response',
      '450 4.1.8 Sender address rejected: unusable DNS answer',
    ],
  ],
  [
    'an address of the sender that is malformed itself',
    'mail',
    SENDER_SYNTAX,
    [
      '501 5.1.7 Sender address rejected: malformed address',
      '501 Malformed sender address syntax',
      '553 sender address is malformed',
      '550 Sender address rejected: need fully-qualified address',
    ],
  ],
  [
    'a recipient that DNS has to know',
    'rcpt',
    OF_RECIPIENT,
    [
      '450 4.1.2 <bob@rcpt.example>: Recipient address rejected: Malformed DNS server reply',
      '450 The recipient domain must resolve',
      '450 4.1.2 Recipient address rejected: Domain not found',
    ],
  ],
  [
    'a machine that DNS has to know',
    'connect',
    REPUTATION,
    ['550 Your host name must resolve', '554 The reverse DNS of your IP must resolve'],
  ],
  [
    'a login that may not use the sender',
    'mail',
    SENDER,
    ['550 Sender not allowed', '553 The from address must match the authenticated user'],
  ],
];

describeWordings([...OF_SERVER, ...OF_MESSAGE, ...OF_LOGIN, ...OF_ACCOUNT, ...OF_SENDER]);
