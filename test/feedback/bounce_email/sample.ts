/** What an email in a bounce mailbox says: `bounced hard`, `deferred soft`, `automatic` and so on. */
export type Sample = { name: string; says: string; raw: string };

export const SAMPLE_TO = 'ann@example.net';
export const SAMPLE_ID = '<019a9f0c-6c00-7cc3-98c4-dc0c0c07398f.1@shop.test>';
/** The email as a bounce returns it. */
export const COPY = [
  'Return-Path: <hello@shop.test>',
  'Received: from app.shop.test by relay.test; Fri, 20 Nov 2026 10:00:00 +0000',
  `Message-ID: ${SAMPLE_ID}`,
  'From: Shop <hello@shop.test>',
  `To: ${SAMPLE_TO}`,
  'Subject: Welcome',
  '',
  'Hi',
].join('\n');

type Head = { from?: string; subject: string; more?: string[] };

/** An email in plain text. */
export const plain = (head: Head, ...body: string[]): string =>
  [
    ...(head.more ?? ['Return-Path: <>']),
    `From: ${head.from ?? 'MAILER-DAEMON@relay.test'}`,
    'To: bounces@shop.test',
    'Date: Fri, 20 Nov 2026 10:15:00 +0000',
    `Subject: ${head.subject}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    ...body,
  ].join('\n');
