import PostalMime from 'postal-mime';
import { describe, expect, test } from 'vitest';
import {
  buildMessage,
  MESSAGE_BYTES_MAX,
  messageIdOf,
  readMessageId,
  Unbuildable,
} from '../../src/delivery/message.ts';
import type { MailAbout } from '../../src/delivery/mail_headers.ts';
import type { Envelope } from '../../src/delivery/message.ts';
import { newId } from '../../src/base/ids.ts';

const SEND_ID = '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const content = { subject: 'Welcome, Ann', html: '<p>Hello Ann</p>', text: 'Hello Ann' };
const sender = { from_email: 'hello@shop.example', from_name: 'The Shop', reply_to: null };
const url = `https://mail.shop.example/u/${'t'.repeat(108)}`;
const about: MailAbout = {
  feedbackSender: '00000000beef',
  automationId: '0198a1b2-0000-7000-8000-00000000aaaa',
  templateId: '0198a1b2-0000-7000-8000-00000000bbbb',
  templateVersion: 3,
  category: 'marketing',
  unsubscribeUrl: url,
  host: 'smtp.relay.example',
};
const envelope: Envelope = {
  sendId: SEND_ID,
  attempt: 2,
  sender,
  to: 'ann@example.com',
  about,
};

/** The header lines, unfolded, without those that change with every message. */
const headerLines = (raw: Buffer): string[] =>
  (raw.toString().split('\r\n\r\n')[0] ?? '')
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .filter((line) => !/^(?:Date|Content-Type):/.test(line));
const names = (raw: Buffer) =>
  headerLines(raw).map((line) => (line.split(':')[0] ?? '').toLowerCase());

const HEADERS = ['from', 'to', 'subject', 'message-id', 'mime-version'];
const OURS = [
  'auto-submitted',
  'x-trunkline-send-id',
  'feedback-id',
  'list-unsubscribe',
  'list-unsubscribe-post',
];

test('a message has exactly the headers it should, each once', async () => {
  const raw = buildMessage(envelope, content);
  expect(names(raw).toSorted()).toEqual([...HEADERS, ...OURS].toSorted());
  expect(headerLines(raw)).toEqual(
    expect.arrayContaining([
      'From: The Shop <hello@shop.example>',
      'To: ann@example.com',
      'Subject: Welcome, Ann',
      `Message-ID: <${SEND_ID}.2@shop.example>`,
      'Auto-Submitted: auto-generated',
      expect.stringMatching(new RegExp(`^X-Trunkline-Send-Id: ${SEND_ID}$`, 'i')),
    ]),
  );
});

test('a message reads back as it was written: text, HTML, one recipient', async () => {
  const unicode = { subject: 'Grüße 👋 и привет', html: '<p>naïve & 日本</p>', text: 'naïve 日本' };
  const mail = await PostalMime.parse(buildMessage(envelope, unicode));
  expect(mail).toMatchObject({
    subject: unicode.subject,
    from: { address: 'hello@shop.example', name: 'The Shop' },
    to: [{ address: 'ann@example.com' }],
    attachments: [],
  });
  expect(mail.html?.trim()).toBe(unicode.html);
  expect(mail.text?.trim()).toBe(unicode.text);
  expect(mail.cc).toBeUndefined();
  expect(mail.bcc).toBeUndefined();
});

test('the reply address is there only when the provider has one', async () => {
  const raw = buildMessage(
    { ...envelope, sender: { ...sender, reply_to: 'help@shop.example' } },
    content,
  );
  expect(headerLines(raw)).toContain('Reply-To: help@shop.example');
});

test('the service names itself in nothing that people see', async () => {
  const raw = buildMessage(envelope, content);
  expect(headerLines(raw).some((line) => /^(?:X-Mailer|User-Agent)/i.test(line))).toBe(false);
});

describe.each(['\r\n', '\n', '\r', '\0', '\u0085', '\u2028', '\u2029'])(
  'with %j inside',
  (lineBreak) => {
    const attack = `x${lineBreak}Bcc: victim@example.net${lineBreak}${lineBreak}body`;

    test.each([
      ['from_name', { sender: { ...sender, from_name: attack } }, {}],
      ['reply_to', { sender: { ...sender, reply_to: `a@shop.example${attack}` } }, {}],
      ['from_email', { sender: { ...sender, from_email: `a@shop.example${attack}` } }, {}],
      ['to', { to: `ann@example.com${attack}` }, {}],
      ['subject', {}, { subject: attack }],
    ])('%s makes no message', async (field, given, text) => {
      const build = () => buildMessage({ ...envelope, ...given }, { ...content, ...text });
      expect(build).toThrow(new Unbuildable(`${field} has a line break`));
    });
  },
);

test('a name that looks like addresses stays a name', async () => {
  const from_name = 'Boss <boss@bank.example>, other@bank.example';
  const raw = buildMessage({ ...envelope, sender: { ...sender, from_name } }, content);
  const mail = await PostalMime.parse(raw);
  expect(mail.from).toMatchObject({ address: 'hello@shop.example', name: from_name });
});

test('files and addresses in the content are not fetched', async () => {
  const html = '<img src="file:///etc/hostname"><img src="http://127.0.0.1:1/x">';
  const mail = await PostalMime.parse(buildMessage(envelope, { ...content, html }));
  expect(mail.html?.trim()).toBe(html);
  expect(mail.attachments).toEqual([]);
});

test('a message of exactly the longest size is built, one byte more is not', async () => {
  const LINE = `${'y'.repeat(70)}\n`;
  const sized = (lines: number, chars: number) => ({
    ...content,
    html: LINE.repeat(lines) + 'z'.repeat(chars),
  });
  const near = 29_000;
  const { length } = buildMessage(envelope, sized(near, 1));
  // Over the wire a line ends with two characters.
  const room = MESSAGE_BYTES_MAX - length;
  const lines = near + Math.floor(room / (LINE.length + 1));
  const chars = 1 + (room % (LINE.length + 1));
  expect(buildMessage(envelope, sized(lines, chars))).toHaveLength(MESSAGE_BYTES_MAX);
  expect(() => buildMessage(envelope, sized(lines, chars + 1))).toThrow(Unbuildable);
});

test('a Message-ID names its send and attempt, with and without brackets', () => {
  for (const attempt of [1, 17, 999_999]) {
    const sendId = newId();
    const messageId = messageIdOf({ sendId, attempt, sender });
    expect(messageId).toBe(`<${sendId}.${attempt}@shop.example>`);
    expect(readMessageId(messageId)).toEqual({ sendId, attempt });
    expect(readMessageId(` ${messageId.slice(1, -1).toUpperCase()} `)).toEqual({ sendId, attempt });
  }
});

test.each([
  '',
  '<abc@shop.example>',
  `<${SEND_ID}@shop.example>`,
  `<${SEND_ID}.x@shop.example>`,
  `<${SEND_ID}.1234567@shop.example>`,
  `<x${SEND_ID}.1@shop.example>`,
  `<${'-'.repeat(36)}.1@shop.example>`,
  `<${'a'.repeat(36)}.1@shop.example>`,
])('%j is no Message-ID of ours', (messageId) => {
  expect(readMessageId(messageId)).toBeNull();
});
