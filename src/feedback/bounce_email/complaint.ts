import { readTypedAddress } from './addresses.ts';
import { fieldOf } from './fields.ts';
import { headerOf } from './parts.ts';
import type { Parts } from './parts.ts';
import type { Report } from './report.ts';
import { readReturned, returnedFields } from './returned.ts';

/** Senders of feedback loops: of Hotmail, AOL, Yahoo, Validity for Comcast and others, Mail.ru. */
const LOOPS = new RegExp(
  '(?:^|[\\s<])(?:' +
    [
      'staff@hotmail\\.com|scomp@aol\\.(?:net|com)|feedback@arf\\.mail\\.yahoo\\.com',
      '[\\w.+-]{1,64}@(?:[\\w-]{1,63}\\.){0,3}senderscore\\.net',
      '[\\w.+-]{1,64}@fbl\\.(?:validity|returnpath)\\.(?:com|net)|(?:fbl|abuse)@(?:corp\\.)?mail\\.ru',
    ].join('|') +
    ')\\s{0,4}>?\\s{0,4}$',
  'i',
);

const SUBJECT = new RegExp(
  [
    '^complaint about (?:a )?message from\\b',
    '^client tos notification',
    '^e-?mail feedback report for',
    '^(?:[\\w .-]{1,40} )?(?:abuse|spam|complaint|feedback) (?:report|notification)\\b',
  ].join('|'),
  'i',
);

/** Headers that name the one who complained, in the copy of the email. */
const RECIPIENTS = ['x-hmxmroriginalrecipient', 'x-original-recipient', 'x-rcpt-to'];

const HEADER_CHARS_MAX = 500;

/**
 * Reads a complaint outside of ARF: the Junk Mail Reporting Program of Hotmail and the older feedback loops send the
 * email itself, from an address and with a subject of their own. Null for any other email.
 */
export const readComplaint = (email: Parts): Report | null => {
  const isOfLoop = LOOPS.test(headerOf(email, 'from').slice(0, HEADER_CHARS_MAX).trim());
  if (!isOfLoop || !SUBJECT.test(headerOf(email, 'subject').slice(0, HEADER_CHARS_MAX).trim()))
    return null;
  const returned = returnedFields(email, '');
  if (returned.size === 0) return null;
  const named = RECIPIENTS.flatMap((name) => readTypedAddress(fieldOf(returned, name)) ?? []);
  return {
    recipients: [
      { kind: 'complained', addresses: named.slice(0, 1), isForwarded: false, diagnostic: null },
    ],
    ...readReturned(email, ''),
    time: headerOf(email, 'date') || null,
  };
};
