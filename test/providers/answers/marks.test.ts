// Marks of filters, and words of sessions and requests, in further wordings and in the opposite sense.
import { expect, test } from 'vitest';
import { classifyHttpAnswer } from '../../../src/providers/answers/answers.ts';
import { describeWordings, spell } from './wordings.ts';
import type { Wordings } from './wordings.ts';

const REPLIES: readonly Wordings[] = [
  [
    'an AUP code at the connection',
    'connect',
    'relay/reputation_refused/after_fix',
    [
      '554 mx.example ESMTP server not available AUP#I-1010',
      '554 cmimta15 esmtp not available AUP#I-1000',
      '554 5.7.1 mx.example refused AUP#Out-1020',
      '554 mx.example unavailable, see AUP#I-1040',
      '554 No service AUP#O-1010',
      '554 mx.example AUP#In-1210',
      '554 closing AUP#I-1050',
      '554 try again AUP#I-1060',
      '554 busy AUP#In-1000',
      '554 server not ready AUP#Out-1110',
    ],
  ],
  [
    'a server that is not available, without a code',
    'connect',
    'relay/temporary_local/later',
    ['421 mx.example ESMTP server not available', '421 server busy, try again later'],
  ],
  [
    'rSPAM, which a filter for outgoing email says of a text',
    'body',
    'message/content_refused/never',
    [
      '550 This message was classified as rSPAM and may not be delivered',
      '554 message rejected as rSPAM',
      '550 rSPAM detected',
      '550 The text looks like rSPAM',
      '550 considered rSPAM',
      '554 Message refused: rSPAM',
      '550 identified as rSPAM',
      '550 blocked, it is rSPAM',
      '554 content flagged as rSPAM',
      '550 5.7.1 message contains rSPAM',
    ],
  ],
  [
    'the filter named rspamd that does not answer',
    'body',
    'relay/temporary_local/later',
    ['451 rspamd not reachable', '451 rspamd is unavailable'],
  ],
  [
    'a full folder',
    'rcpt',
    'recipient/mailbox_full/later',
    ['550 5.2.5 Folder full', '550 mail folder is full', '452 Mailfolder full'],
  ],
  [
    'a server that finds the protocol broken',
    'connect',
    'connection/line_or_syntax/after_fix',
    ['550 esmtp: protocol deviation', '550 deviation from the SMTP protocol'],
  ],
  [
    'a command that was waited for in vain',
    'any',
    'connection/connection_limit/later',
    [
      '421 closing transmission channel: command timeout',
      '421 4.4.2 mx.example command timed out',
      '421 Service closing - idle timeout',
      '421 session timed out',
      '421 4.4.2 session timeout exceeded',
    ],
  ],
  [
    'an address of the sender that is stopped',
    'rcpt',
    'sender/account_suspended/after_fix',
    [
      '550 5.7.1 [SB01] Your email address has been blocked due to complaints',
      '550 Your email address has been suspended',
      '554 your e-mail address is disabled',
    ],
  ],
  [
    'a sender that the recipient stops',
    'rcpt',
    'recipient/recipient_policy/never',
    [
      '550 your email address is blocked by the recipient',
      '550 Sender not in the allow list of the recipient',
    ],
  ],
];

describeWordings(REPLIES);

const TOO_MANY_AT_ONCE = 'message/line_or_syntax/never';
const LIMIT = 'account/account_limit/later';

test.each([
  ['Too many recipients; max is 1000', 400, TOO_MANY_AT_ONCE],
  ['Too many recipients, limit is 50 per message', 400, TOO_MANY_AT_ONCE],
  ['maximum of 100 recipients exceeded', 400, TOO_MANY_AT_ONCE],
  ['no more than 50 recipients per request', 422, TOO_MANY_AT_ONCE],
  ['Too many recipients today; max is 1000', 400, LIMIT],
  ['Too many recipients per hour, limit 500', 400, LIMIT],
  ['API key is temporarily suspended', 401, 'account/account_suspended/after_fix'],
  ['The token has been suspended', 401, 'account/account_suspended/after_fix'],
  ['API key is disabled', 401, 'account/auth_failed/after_fix'],
  ['API key expired', 401, 'account/auth_failed/after_fix'],
])('an API says: %s', (message, status, expected) => {
  const answer = { provider: 'Some API', status, body: JSON.stringify({ message }) };
  expect(spell(classifyHttpAnswer(answer))).toBe(expected);
});
