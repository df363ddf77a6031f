import { plain } from './sample.ts';
import type { Sample } from './sample.ts';

/** Replies and mail of people: none of them is a bounce. */
export const OTHER_SAMPLES: readonly Sample[] = [
  {
    name: 'an out-of-office reply',
    says: 'automatic',
    raw: plain(
      { from: 'Ann <ann@example.net>', subject: 'Out of office: Welcome', more: [] },
      'I am away. My mail cannot be delivered until Monday.',
    ),
  },
  {
    name: 'a reply that is marked (RFC 3834)',
    says: 'automatic',
    raw: plain(
      {
        from: 'Ann <ann@example.net>',
        subject: 'Thank you',
        more: ['Auto-Submitted: auto-replied'],
      },
      'We have received your message.',
    ),
  },
  {
    name: 'a reply of an older program',
    says: 'automatic',
    raw: plain(
      { from: 'Ann <ann@example.net>', subject: 'Thank you', more: ['Precedence: auto_reply'] },
      'We have received your message.',
    ),
  },
  {
    name: 'a vacation notice with an empty envelope sender',
    says: 'automatic',
    raw: plain(
      { from: 'Ann <ann@example.net>', subject: 'Abwesenheitsnotiz', more: ['Return-Path: <>'] },
      'Ich bin nicht da.',
    ),
  },
  {
    name: 'a challenge',
    says: 'automatic',
    raw: plain(
      {
        from: 'ann@example.net',
        subject: 'Please confirm your message',
        more: ['Auto-Submitted: auto-replied (challenge)'],
      },
      'Your message could not be delivered yet. Reply to this message to deliver it.',
    ),
  },
  {
    name: 'a read receipt (RFC 8098)',
    says: 'automatic',
    raw: [
      'From: ann@example.net',
      'Subject: Read: Welcome',
      'MIME-Version: 1.0',
      'Content-Type: multipart/report; report-type=disposition-notification; boundary="b"',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'Your message was displayed.',
      '--b',
      'Content-Type: message/disposition-notification',
      '',
      'Final-Recipient: rfc822; ann@example.net',
      'Disposition: manual-action/MDN-sent-manually; displayed',
      '',
      '--b--',
    ].join('\n'),
  },
  {
    name: 'an answer of a person that quotes a bounce',
    says: 'other',
    raw: plain(
      {
        from: 'Ann <ann@example.net>',
        subject: 'Re: Undelivered Mail Returned to Sender',
        more: [],
      },
      'Why did you write to me?',
      '> your message could not be delivered',
      '> 550 5.1.1 User unknown',
    ),
  },
  {
    name: 'a newsletter',
    says: 'other',
    raw: plain(
      { from: 'news@example.net', subject: 'Our news', more: ['Precedence: bulk'] },
      'Nothing happened.',
    ),
  },
  { name: 'no email at all', says: 'other', raw: '\0\0\0' },
  { name: 'nothing', says: 'other', raw: '' },
];
