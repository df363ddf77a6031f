import { COPY, SAMPLE_TO as TO } from './sample.ts';
import type { Sample } from './sample.ts';

type Head = { from: string; subject: string };

/** A complaint outside of ARF: the email itself is its only part that says something. */
const complaint = ({ from, subject }: Head, copy: string): string =>
  [
    `From: ${from}`,
    'To: abuse@shop.test',
    'Date: Fri, 20 Nov 2026 10:15:00 +0000',
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="b"',
    '',
    '--b',
    'Content-Type: message/rfc822',
    'Content-Disposition: inline',
    '',
    copy,
    '--b--',
  ].join('\n');

/** Feedback loops that send no report in the format of RFC 5965. */
export const COMPLAINT_SAMPLES: readonly Sample[] = [
  {
    name: 'the Junk Mail Reporting Program of Hotmail',
    says: 'complained',
    raw: complaint(
      { from: 'staff@hotmail.com', subject: 'complaint about message from 192.0.2.10' },
      `X-HmXmrOriginalRecipient: ${TO}\n${COPY}`,
    ),
  },
  {
    name: 'the older feedback loop of AOL',
    says: 'complained',
    raw: complaint({ from: 'AOL <scomp@aol.net>', subject: 'Client TOS Notification' }, COPY),
  },
  {
    name: 'a feedback loop of Validity',
    says: 'complained',
    raw: complaint(
      { from: 'feedbackloop@comcastfbl.senderscore.net', subject: 'Comcast Abuse Report' },
      COPY,
    ),
  },
  {
    name: 'the words of a complaint from a person',
    says: 'other',
    raw: complaint(
      { from: 'ann@example.net', subject: 'complaint about message from 192.0.2.10' },
      COPY,
    ),
  },
  {
    name: 'an email of a feedback loop that returns none',
    says: 'other',
    raw: [
      'From: staff@hotmail.com',
      'Subject: complaint about message from 192.0.2.10',
      'Content-Type: text/plain',
      '',
      'Your enrollment was confirmed.',
    ].join('\n'),
  },
  {
    name: 'an answer about something else from such an address',
    says: 'other',
    raw: complaint({ from: 'staff@hotmail.com', subject: 'Welcome to the program' }, COPY),
  },
];
