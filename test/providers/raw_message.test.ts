// Email software reads what Trunkline composes like what the mail library composes of the same parts.
import fc from 'fast-check';
import MailComposer from 'nodemailer/lib/mail-composer';
import { foldLines } from 'nodemailer/lib/mime-funcs';
import MimeNode from 'nodemailer/lib/mime-node';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { toRaw } from '../../src/providers/raw_message.ts';

const LINE_CHARS = 76;

const written = (maxLength: number) =>
  fc
    .oneof(
      { weight: 3, arbitrary: fc.lorem({ maxCount: 40 }) },
      fc.string({ unit: 'grapheme', maxLength }),
      fc.string({
        unit: fc.constantFrom('日', 'я', 'é', '👋', 'a', ' ', '.', '=', '?'),
        maxLength,
      }),
      fc.array(fc.lorem({ maxCount: 12 }), { maxLength: 8 }).map((lines) => lines.join('\n')),
      fc.string({ unit: fc.constantFrom('x', '\t', ' ', '\n', '.', '-', '='), maxLength }),
      fc.nat({ max: 300 }).map((chars) => `https://mail.shop.example/u/${'t'.repeat(chars)}`),
    )
    .map((text) => text.toWellFormed().replaceAll(/[\0\r\u0085\u2028\u2029]/g, ''));
const line = (maxLength: number) =>
  written(maxLength).map((text) => text.replaceAll(/\s+/g, ' ').trim());

const mail = fc.record({
  name: line(60),
  subject: line(150),
  // The library leaves an empty one out.
  text: written(400).map((text) => `${text}.`),
  html: written(400).map((text) => `<p>${text}</p>`),
});

const read = async (raw: Buffer) => {
  const { from, to, replyTo, subject, messageId, text, html, headers } =
    await PostalMime.parse(raw);
  const names = headers.map(({ key }) => key).toSorted();
  // Ends of parts belong to whoever makes them.
  return {
    from,
    to,
    replyTo,
    subject,
    messageId,
    text: text?.trimEnd(),
    html: html?.trimEnd(),
    names,
  };
};

test('names, subjects and both texts, whatever is in them', async () => {
  await fc.assert(
    fc.asyncProperty(mail, async ({ name, subject, text, html }) => {
      const from = { name, address: 'hello@shop.example' };
      const to = { name: '', address: 'ann@bücher.example' };
      const replyTo = { name: '', address: 'help@shop.example' };
      const ours = toRaw(
        {
          From: from,
          To: to,
          'Reply-To': replyTo,
          Subject: subject,
          'Message-ID': '<a.1@shop.example>',
        },
        { text, html },
      );
      const theirs = await new MailComposer({
        from: { ...from },
        to: { ...to },
        replyTo: { ...replyTo },
        messageId: '<a.1@shop.example>',
        headers: { Subject: subject },
        text,
        html,
        newline: 'windows',
      })
        .compile()
        .build();
      expect(await read(ours)).toEqual(await read(theirs));
      const [, ...parts] = ours.toString('latin1').split('\r\n\r\n');
      for (const one of parts.join('\r\n\r\n').split('\r\n')) {
        expect(one).toMatch(/^[\t\x20-\x7e]*$/);
        expect(one.length).toBeLessThanOrEqual(LINE_CHARS);
      }
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['7bit', 'Hello Ann,\nwelcome.'],
  ['7bit', 'x'.repeat(LINE_CHARS)],
  ['quoted-printable', 'x'.repeat(LINE_CHARS + 1)],
  ['quoted-printable', 'Viele Grüße aus der Stadt'],
  ['base64', 'Grüße'],
  ['quoted-printable', '\u007f'],
  ['base64', 'Добро пожаловать'],
  ['base64', 'ようこそ'],
])('a text goes as %s: %s', (encoding, text) => {
  const raw = toRaw({}, { text, html: '<p>' }).toString();
  const [, said] = /text\/plain; charset=utf-8\r\nContent-Transfer-Encoding: (\S+)/.exec(raw) ?? [];
  expect(said).toBe(encoding);
});

test('without HTML it is the text alone', async () => {
  const raw = toRaw({ Subject: 'Hello' }, { text: 'one\rtwo\nthree\r\nfour', html: null });
  const { text, html, subject } = await PostalMime.parse(raw);
  expect([subject, text, html]).toEqual(['Hello', 'one\ntwo\nthree\nfour\n', undefined]);
  expect(raw.toString()).not.toContain('multipart');
});

test('no two messages are told apart by the same boundary', () => {
  const boundaryOf = () =>
    /boundary="([^"]+)"/.exec(toRaw({}, { text: '', html: '' }).toString())?.[1];
  expect(new Set(Array.from({ length: 100 }, boundaryOf)).size).toBe(100);
});

const oneOf = (characters: string) => fc.constantFrom(...characters.split(''));
const asciiText = fc.string({ unit: oneOf('aB1 .,:;"()<>@=?_-\\'), maxLength: 120 });
/** The library takes such a domain for an IPv4 address, and writes `1.1` as `1.0.0.1`. We write it as it is. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[\da-f]*)\.?$/i;
const address = fc.oneof(
  fc.emailAddress(),
  fc
    .tuple(
      fc.string({ unit: oneOf('aB1._+-'), minLength: 1, maxLength: 70 }),
      fc
        .string({ unit: oneOf('ab1.-X_'), minLength: 1, maxLength: 40 })
        .filter((domain) => !ENDS_IN_NUMBER.test(domain)),
    )
    .map(([user, domain]) => `${user}@${domain}`),
  fc.constantFrom(
    'a@xn--bcher-kva.example',
    'a@xn--0.example',
    'a@[127.0.0.1]',
    'a@a..b',
    'a@b.c.',
  ),
);

test('an address whose domain is a number stays as it is', () => {
  const raw = toRaw({ To: { name: '', address: 'a@1.1' } }, { text: 'Hi', html: null });
  expect(raw.toString()).toMatch(/^To: a@1\.1\r$/m);
});

test('plain fields are what the library writes of them', () => {
  const library = new MimeNode();
  fc.assert(
    fc.property(asciiText, address, (subject, to) => {
      const fields = { To: { name: '', address: to }, Subject: subject };
      const expected = Object.entries(fields)
        .filter(([, value]) => value !== '')
        .map(([name, value]) => foldLines(`${name}: ${library.encodeHeaderValue(name, value)}`));
      const [head] = toRaw(fields, { text: 'Hi', html: null }).toString().split('\r\nDate: ');
      expect(head).toBe(expected.join('\r\n'));
    }),
    { numRuns: 2_000 },
  );
});
