import PostalMime from 'postal-mime';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { Keys } from '../../src/base/keys.ts';
import { feedbackSenderOf } from '../../src/delivery/mail_headers.ts';
import type { MailAbout } from '../../src/delivery/mail_headers.ts';
import { buildMessage, LINE_BYTES_MAX, Unbuildable } from '../../src/delivery/message.ts';
import { SUBJECT_CHARS_MAX } from '../../src/rendering/limits.ts';

const keys = new Keys(Buffer.alloc(32, 1));
const PROJECT_ID = '0198a1b2-0000-7000-8000-1234567890ab';
const sendId = newId();
const url = `https://mail.shop.example/u/${'t'.repeat(108)}`;
const about: MailAbout = {
  feedbackSender: feedbackSenderOf(keys, PROJECT_ID),
  automationId: newId(),
  templateId: newId(),
  templateVersion: 3,
  category: 'marketing',
  unsubscribeUrl: url,
  host: 'smtp.relay.example',
};
const sender = { from_email: 'hello@shop.example', from_name: 'Shop', reply_to: null };
const content = { subject: 'Hello', html: '<p>Hello</p>', text: 'Hello' };

type Given = {
  about?: Partial<MailAbout>;
  content?: Partial<typeof content>;
  from_name?: string;
};
const build = (given: Given = {}): Buffer =>
  buildMessage(
    {
      sendId,
      attempt: 1,
      to: 'ann@example.com',
      sender: {
        ...sender,
        ...(given.from_name === undefined ? {} : { from_name: given.from_name }),
      },
      about: { ...about, ...given.about },
    },
    { ...content, ...given.content },
  );
/** The values of a field as somebody else's parser reads them. */
const read = async (raw: Buffer, name: string): Promise<string[]> =>
  (await PostalMime.parse(raw)).headers.flatMap(({ key, value }) =>
    key === name.toLowerCase() ? [value] : [],
  );

describe('leaving', () => {
  test('marketing mail says where, once, and that one POST is enough (RFC 8058)', async () => {
    const raw = build();
    expect(await read(raw, 'List-Unsubscribe')).toEqual([`<${url}>`]);
    expect(await read(raw, 'List-Unsubscribe-Post')).toEqual(['List-Unsubscribe=One-Click']);
  });

  test('other mail has neither field', async () => {
    const raw = build({ about: { category: 'transactional', unsubscribeUrl: null } });
    expect(raw.toString()).not.toMatch(/^List-/im);
  });

  test('an address that is no printable ASCII makes no message, nor a header of its own', async () => {
    for (const bad of [`${url}\r\nBcc: x@y.example`, `${url}ü`])
      expect(() => build({ about: { unsubscribeUrl: bad } })).toThrow('printable ASCII');
  });
});

describe('Feedback-ID', () => {
  test('has four fields, of which the last is the same for the whole project', async () => {
    const [value = ''] = await read(build(), 'Feedback-ID');
    const { automationId, templateId } = about;
    expect(value.split(':')).toEqual([
      automationId,
      `${templateId}.3`,
      'marketing',
      about.feedbackSender,
    ]);
    const other = build({ about: { automationId: null, templateVersion: 4 } });
    expect((await read(other, 'Feedback-ID'))[0]?.split(':')).toMatchObject({
      0: 'none',
      3: about.feedbackSender,
    });
  });

  test('the sender is stable for a project, and no other project or installation has it', () => {
    const sender = feedbackSenderOf(keys, PROJECT_ID);
    expect(sender).toMatch(/^[\da-f]{5,15}$/);
    expect(feedbackSenderOf(new Keys(Buffer.alloc(32, 1)), PROJECT_ID)).toBe(sender);
    expect(feedbackSenderOf(keys, newId())).not.toBe(sender);
    expect(feedbackSenderOf(new Keys(Buffer.alloc(32, 2)), PROJECT_ID)).not.toBe(sender);
  });

  test('says nothing of the recipient or their send', async () => {
    const [value = ''] = await read(build(), 'Feedback-ID');
    expect(value).not.toContain(sendId);
    expect(value).not.toContain('ann');
  });
});

describe('our ids for the provider to give back', () => {
  test.each(['smtp.mailgun.org', 'smtp.eu.mailgun.org', 'SMTP.MAILGUN.ORG'])(
    '%s gets literal JSON, though it has quotes',
    async (host) => {
      const raw = build({ about: { host } });
      expect(raw.toString()).toMatch(/^X-Mailgun-Variables: \{"send_id":"[\da-f-]{36}"\}\r$/m);
      const [value = ''] = await read(raw, 'X-Mailgun-Variables');
      expect(JSON.parse(value)).toEqual({ send_id: sendId });
      expect(await read(raw, 'X-Mailgun-Tag')).toEqual([about.automationId]);
    },
  );

  test.each(['email-smtp.eu-west-1.amazonaws.com', 'email-smtp-fips.us-east-1.amazonaws.com'])(
    '%s gets tags of the letters that it takes',
    async (host) => {
      const [value = ''] = await read(build({ about: { host } }), 'X-SES-MESSAGE-TAGS');
      const tags = value.split(', ').map((tag) => tag.split('='));
      expect(Object.fromEntries(tags)).toEqual({
        send_id: sendId,
        automation_id: about.automationId,
      });
      for (const tag of tags.flat()) expect(tag).toMatch(/^[\w-]{1,256}$/);
    },
  );

  test.each<[string, string, (value: string) => unknown]>([
    ['smtp.postmarkapp.com', 'X-PM-Metadata-send_id', (value) => value],
    ['smtp-broadcasts.postmarkapp.com', 'X-PM-Metadata-send_id', (value) => value],
    ['smtp.sendgrid.net', 'X-SMTPAPI', (value) => JSON.parse(value).unique_args.send_id],
    ['smtp.eu.sendgrid.net', 'X-SMTPAPI', (value) => JSON.parse(value).unique_args.send_id],
    ['smtp-relay.brevo.com', 'X-Mailin-custom', (value) => value.replace('send_id:', '')],
    ['in-v3.mailjet.com', 'X-MJ-CustomID', (value) => value],
    ['smtp.sparkpostmail.com', 'X-MSYS-API', (value) => JSON.parse(value).metadata.send_id],
    ['smtp.eu.sparkpostmail.com', 'X-MSYS-API', (value) => JSON.parse(value).metadata.send_id],
  ])('%s gets %s with the id of the send', async (host, name, idIn) => {
    const [value = ''] = await read(build({ about: { host } }), name);
    expect(idIn(value)).toBe(sendId);
  });

  test.each([
    'smtp.relay.example',
    'mailgun.org.evil.example',
    'notmailgun.org',
    'notsendgrid.net',
    'mailjet.com.evil.example',
    'smtp.resend.com',
    null,
  ])('%s gets none', async (host) => {
    const raw = build({ about: { host } });
    expect(raw.toString()).not.toMatch(/^X-(?!Trunkline)/im);
    expect(await read(raw, 'X-Trunkline-Send-Id')).toEqual([sendId]);
  });
});

describe('lines', () => {
  const linesOf = (raw: Buffer) => raw.toString('latin1').split('\r\n');
  const longest = (raw: Buffer) => Math.max(...linesOf(raw).map(({ length }) => length));

  test.each([
    ['one long line', { text: 'x'.repeat(5_000), html: `<p>${'y'.repeat(50_000)}` }],
    ['long lines of other letters', { text: 'é'.repeat(5_000), html: '日'.repeat(5_000) }],
    ['the longest subject in one word', { subject: 'q'.repeat(SUBJECT_CHARS_MAX) }],
    ['the longest subject of other letters', { subject: '日'.repeat(SUBJECT_CHARS_MAX) }],
    ['a dot that stands alone', { text: 'a\n.\nb', html: '<p>\n.\n</p>' }],
  ])('%s is wrapped, and reads back as it was', async (_what, given) => {
    const raw = build({ content: given });
    expect(longest(raw)).toBeLessThanOrEqual(LINE_BYTES_MAX);
    const mail = await PostalMime.parse(raw);
    const want: Partial<typeof content> = given;
    if (want.subject !== undefined) expect(mail.subject).toBe(want.subject);
    if (want.text !== undefined) expect(mail.text?.trim()).toBe(want.text.trim());
    if (want.html !== undefined) expect(mail.html?.trim()).toBe(want.html.trim());
  });

  test.each([
    ['blanks', ' '.repeat(200)],
    ['tabs', '\t'.repeat(200)],
    ['blanks after other letters', `ü${' '.repeat(200)}`],
  ])('no line of a header is %s alone, which may be taken for its end', async (_what, blanks) => {
    const subject = `Hello${blanks}Ann`;
    const raw = build({ content: { subject } });
    const [head = ''] = raw.toString().split('\r\n\r\n');
    for (const line of head.split('\r\n')) expect(line).toMatch(/\S/);
    expect((await PostalMime.parse(raw)).subject).toBe(subject);
  });

  test('every line ends in CRLF, whatever the content had', async () => {
    const mixed = 'a\nb\rc\r\nd\r\re';
    const raw = build({ content: { text: mixed, html: mixed } });
    expect(raw.toString()).not.toMatch(/(?<!\r)\n|\r(?!\n)/);
    expect((await PostalMime.parse(raw)).text?.trim()).toBe('a\nb\nc\nd\n\ne');
  });

  test('one that cannot be wrapped makes no message: of the longest it does', async () => {
    const named = (chars: number) => build({ from_name: `${'n'.repeat(chars)}` });
    // On a line of its own, after the blank that continues a field.
    const room = LINE_BYTES_MAX - 1;
    expect(longest(named(room))).toBe(LINE_BYTES_MAX);
    expect(() => named(room + 1)).toThrow(Unbuildable);
  });
});

test('the parts are text, then HTML, as alternatives of each other, in UTF-8', async () => {
  const raw = build({ content: { text: 'naïve', html: '<p>naïve</p>' } }).toString();
  expect(raw).toMatch(/^Content-Type: multipart\/alternative;/m);
  const types = [...raw.matchAll(/^Content-Type: (text\/\w+); charset=([\w-]+)/gm)];
  expect(types.map(([, type, charset]) => [type, charset])).toEqual([
    ['text/plain', 'utf-8'],
    ['text/html', 'utf-8'],
  ]);
});

test.each(['Łukasz & Söhne', '日本の店', 'Shop "Best" <x@y.example>', 'a,b;c:d'])(
  'the sender’s name %s reads back as it was',
  async (from_name) => {
    const mail = await PostalMime.parse(build({ from_name }));
    expect(mail.from).toMatchObject({ address: sender.from_email, name: from_name });
  },
);
