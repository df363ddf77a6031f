// How much of an email is read: each limit at its bound and one past it.
import { expect, test } from 'vitest';
import { readBounceEmail } from '../../../src/feedback/bounce_email/bounce_email.ts';
import type { Report } from '../../../src/feedback/bounce_email/bounce_email.ts';
import { boundEmail } from '../../../src/feedback/bounce_email/bound_email.ts';
import { readBlocks } from '../../../src/feedback/bounce_email/fields.ts';
import {
  DEPTH_MAX,
  EMAIL_BYTES_MAX,
  EMAIL_LINES_MAX,
  EXPLANATION_CHARS_MAX,
  FIELD_CHARS_MAX,
  FIELDS_MAX,
  HEADER_BYTES_MAX,
  PARTS_MAX,
  RECIPIENTS_MAX,
} from '../../../src/feedback/bounce_email/limits.ts';
import { dsn } from '../mailboxes/reports.ts';

const read = (raw: string | Buffer) => readBounceEmail(Buffer.from(raw));
const reportOf = async (raw: string): Promise<Report | null> => {
  const email = await read(raw);
  return email.kind === 'report' ? email.report : null;
};

test(`the first ${EMAIL_BYTES_MAX} bytes are read`, () => {
  expect(boundEmail(Buffer.alloc(EMAIL_BYTES_MAX, 'a'))).toHaveLength(EMAIL_BYTES_MAX);
  expect(boundEmail(Buffer.alloc(EMAIL_BYTES_MAX + 1, 'a'))).toHaveLength(EMAIL_BYTES_MAX);
});

test(`the first ${EMAIL_LINES_MAX} lines are read`, () => {
  const lines = (count: number) => Buffer.from('a\n'.repeat(count));
  expect(boundEmail(lines(EMAIL_LINES_MAX))).toHaveLength(2 * EMAIL_LINES_MAX);
  expect(boundEmail(lines(EMAIL_LINES_MAX + 1))).toHaveLength(2 * EMAIL_LINES_MAX);
});

test(`the first ${PARTS_MAX} parts are read, and lines of text with two dashes are none`, () => {
  const head = 'Content-Type: multipart/mixed; boundary="b"\n\n';
  const parts = (count: number, name = 'b') => Buffer.from(head + `--${name}\n\nx\n`.repeat(count));
  expect(boundEmail(parts(PARTS_MAX))).toHaveLength(parts(PARTS_MAX).length);
  expect(boundEmail(parts(PARTS_MAX + 1))).toHaveLength(parts(PARTS_MAX).length);
  expect(boundEmail(parts(PARTS_MAX + 1, 'c'))).toHaveLength(parts(PARTS_MAX + 1, 'c').length);
});

test('a report at the start of a larger email is read', async () => {
  const raw = dsn({ headers: 'Message-ID: <a@b.test>' }) + 'x'.repeat(2 * EMAIL_BYTES_MAX);
  expect(await reportOf(raw)).toMatchObject({ messageIds: ['<a@b.test>'] });
});

/** A report that is nested in so many parts. */
const nested = (depth: number): string => {
  let raw = dsn().slice(dsn().indexOf('Content-Type: multipart/report'));
  for (let level = 1; level < depth; level += 1)
    raw = `Content-Type: multipart/mixed; boundary="n${level}"\r\n\r\n--n${level}\r\n${raw}\r\n--n${level}--\r\n`;
  return `From: a@b.test\r\nMIME-Version: 1.0\r\n${raw}`;
};

test(`parts are nested ${DEPTH_MAX} deep at most`, async () => {
  expect((await read(nested(DEPTH_MAX))).kind).toBe('report');
  expect((await read(nested(DEPTH_MAX + 1))).kind).toBe('other');
  expect((await read(nested(5_000))).kind).toBe('other');
});

test(`headers have ${HEADER_BYTES_MAX} bytes at most`, async () => {
  const own = dsn().indexOf('\r\n\r\n');
  const more = (bytes: number) => {
    const name = 'X-More: ';
    return `${name}${'a'.repeat(bytes - name.length - 2)}\r\n${dsn()}`;
  };
  expect((await read(more(HEADER_BYTES_MAX - 2 * own))).kind).toBe('report');
  expect((await read(more(HEADER_BYTES_MAX + 1))).kind).toBe('other');
});

test(`${RECIPIENTS_MAX} recipients of a report count`, async () => {
  const one = (nth: number) =>
    `Final-Recipient: rfc822; a${nth}@b.test\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n`;
  const many = (count: number) =>
    dsn().replace(
      'Final-Recipient',
      `${Array.from({ length: count }, (_, nth) => one(nth)).join('')}Final-Recipient`,
    );
  expect((await reportOf(many(RECIPIENTS_MAX - 1)))?.recipients).toHaveLength(RECIPIENTS_MAX);
  expect((await reportOf(many(RECIPIENTS_MAX)))?.recipients).toHaveLength(RECIPIENTS_MAX);
});

test(`a block has ${FIELDS_MAX} fields, and a field ${FIELD_CHARS_MAX} characters at most`, () => {
  const fields = (count: number) =>
    Array.from({ length: count }, (_, nth) => `F${nth}: x`).join('\n');
  expect(readBlocks(fields(FIELDS_MAX), 1)[0]?.size).toBe(FIELDS_MAX);
  expect(readBlocks(fields(FIELDS_MAX + 1), 1)[0]?.size).toBe(FIELDS_MAX);
  const value = (chars: number) =>
    readBlocks(`F: ${'x'.repeat(chars)}`, 1)[0]?.get('f')?.[0]?.length;
  const own = 'F: '.length;
  expect(value(FIELD_CHARS_MAX - own)).toBe(FIELD_CHARS_MAX - own);
  expect(value(FIELD_CHARS_MAX - own + 1)).toBe(FIELD_CHARS_MAX - own);
});

test(`${EXPLANATION_CHARS_MAX} characters of an explanation are read`, async () => {
  const plain = (filler: number) =>
    `From: mailer-daemon@b.test\nSubject: failure notice\n\n${'x'.repeat(filler)}\n550 5.1.1 unknown`;
  const diagnosticOf = async (filler: number) =>
    (await reportOf(plain(filler)))?.recipients[0]?.diagnostic;
  const reply = '550 5.1.1 unknown'.length;
  expect(await diagnosticOf(EXPLANATION_CHARS_MAX - reply - 1)).toBe('550 5.1.1 unknown');
  expect(await diagnosticOf(EXPLANATION_CHARS_MAX - reply)).toBe('550 5.1.1 unknow');
});
