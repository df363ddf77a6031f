// Anyone can write to the address of a mailbox. Whatever the bytes are, nothing throws and nothing takes long.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readBounceEmail } from '../../../src/feedback/bounce_email/bounce_email.ts';
import { judgeReport } from '../../../src/feedback/bounce_email/judge.ts';
import { EMAIL_BYTES_MAX } from '../../../src/feedback/bounce_email/limits.ts';
import { arf, dsn } from '../mailboxes/reports.ts';
import { SAMPLES } from './samples.ts';

const RAWS = [dsn(), arf(), ...SAMPLES.map(({ raw }) => raw)];

const readAll = async (raw: Buffer): Promise<void> => {
  const email = await readBounceEmail(raw);
  if (email.kind === 'report') judgeReport(email.report, 'ann@example.net');
};

test('random bytes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), (bytes) => readAll(Buffer.from(bytes))),
    { numRuns: 300 },
  );
});

test('emails with pieces that are cut out, repeated or overwritten', async () => {
  const place = fc.nat({ max: 3_000 });
  const piece = fc.oneof(
    fc.constantFrom(
      '\r\n',
      '\r\n\r\n',
      '--b1',
      ':',
      ';',
      '<',
      '@',
      '\0',
      '\\x{110000}',
      'Action: failed',
    ),
    fc.string({ maxLength: 30 }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...RAWS),
      fc.array(fc.tuple(place, place, piece), { minLength: 1, maxLength: 8 }),
      async (raw, edits) => {
        let edited = raw;
        for (const [from, length, text] of edits) {
          const at = from % (edited.length + 1);
          edited = edited.slice(0, at) + text + edited.slice(at + (length % 40));
        }
        await readAll(Buffer.from(edited, 'latin1'));
      },
    ),
    { numRuns: 500 },
  );
});

const N = EMAIL_BYTES_MAX;
const inReport = (content: string): string =>
  dsn().replace(/Final-Recipient[^]*?--b1/, `${content}\r\n--b1`);
const inPlain = (content: string): string =>
  `From: mailer-daemon@b.test\r\nSubject: failure notice\r\n\r\n${content}`;

const HOSTILE: readonly (readonly [string, string])[] = [
  ['many short lines', inPlain('a\n'.repeat(N / 2))],
  ['one long line', inPlain('a'.repeat(N))],
  [
    'many parts',
    `Content-Type: multipart/mixed; boundary=a\r\n\r\n${'--a\r\n\r\nx\r\n'.repeat(N / 10)}`,
  ],
  ['many boundaries', inPlain('boundary=a; '.repeat(N / 12))],
  ['many addresses', inPlain('a@b.test '.repeat(N / 9))],
  ['no address', inPlain('@'.repeat(N))],
  ['long words', inPlain(`${'a'.repeat(60)}@${'b'.repeat(200)} `.repeat(N / 262))],
  ['words of delays', inPlain('delivery has been '.repeat(N / 18))],
  ['words of separators', inPlain('--- '.repeat(N / 4))],
  ['many fields', inReport('Action: failed\r\n'.repeat(N / 16))],
  ['many blocks', inReport('Action: failed\r\n\r\n'.repeat(N / 18))],
  ['folded for ever', inReport(`Diagnostic-Code: x\r\n${' y\r\n'.repeat(N / 4)}`)],
  ['colons', inReport(':'.repeat(N))],
  ['escapes', inReport(`Final-Recipient: utf-8; ${'\\x{41}'.repeat(N / 6)}`)],
  ['types', inReport(`Final-Recipient: ${'rfc822; '.repeat(N / 8)}`)],
  ['brackets', inReport(`Final-Recipient: rfc822; ${'<'.repeat(N)}`)],
  [
    'a reply without end',
    inReport(`Action: failed\r\nDiagnostic-Code: smtp; 550 ${'5.1.1 '.repeat(N / 6)}`),
  ],
  ['tags', `From: mailer-daemon@b.test\r\nContent-Type: text/html\r\n\r\n${'<a '.repeat(N / 3)}`],
  ['flowed text', `Content-Type: text/plain; format=flowed\r\n\r\n${'> > a \r\n'.repeat(N / 8)}`],
  ['references', `References: ${'<a@b> '.repeat(9_000)}\r\n${dsn()}`],
  ['senders', `From: ${'a@b.test, '.repeat(6_000)}\r\n\r\nfailed`],
  ['encoded words', `Subject: ${'=?utf-8?B?YQ==?= '.repeat(3_500)}\r\n\r\nx`],
];

/** Far more than an idle machine needs, far less than quadratic work would take. */
const READ_MS_MAX = 4_000;

test.each(HOSTILE)('%s: read in time', async (_what, raw) => {
  const begun = performance.now();
  await readAll(Buffer.from(raw));
  expect(performance.now() - begun).toBeLessThan(READ_MS_MAX);
});
