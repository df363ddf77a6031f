// Whatever a server sends, in whatever form: an answer, in time, and the same for the same words.
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  classifyHttpAnswer,
  classifySmtpReply,
  normalizeReply,
  sanitizeReply,
} from '../../../src/providers/answers/answers.ts';
import type { SmtpPhase } from '../../../src/providers/answers/answers.ts';
import type { LabelledReply } from './labelled.ts';

const PHASES: readonly SmtpPhase[] = [
  'connect',
  'ehlo',
  'auth',
  'mail',
  'rcpt',
  'data',
  'body',
  'any',
];

const corpus = JSON.parse(
  readFileSync(join(import.meta.dirname, 'facts', 'smtp_replies.json'), 'utf8'),
) as LabelledReply[];
const entries = corpus.map(({ reply, phase }) => ({
  reply,
  phase: phase === 'starttls' ? ('ehlo' as const) : phase,
}));
const entry = fc.constantFrom(...entries);
const phase = fc.constantFrom(...PHASES);

/** Letters, signs, words of the rules, codes and line ends, in any order. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('550 ', '450-', '5.1.1', '\r\n', '\n', '\r', '\u0000', '\u00ff', '<b>', '{"'),
      fc.constantFrom('user unknown', 'quota', 'sender', 'limit', '@', '<a@b.c>', '192.0.2.1'),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''));

describe('any text', () => {
  test('has a meaning, a normal form and a form to show', () => {
    fc.assert(
      fc.property(anyText, phase, (reply, at) => {
        expect(classifySmtpReply({ reply, phase: at }).scope).toBeTypeOf('string');
        expect(normalizeReply(reply).length).toBeLessThanOrEqual(300);
        expect(sanitizeReply({ reply }).text.length).toBeLessThanOrEqual(500);
      }),
    );
  });

  test.each([
    '{"errors":{"to":[{"toString":1}]}}',
    `{"errors":{"to":${'['.repeat(5_000)}"x"${']'.repeat(5_000)}}}`,
    `{"errors":[{"field":${'['.repeat(5_000)}"x"${']'.repeat(5_000)},"message":"x"}]}`,
  ])('is read however it nests: %.40s', (body) => {
    expect(classifyHttpAnswer({ provider: 'any', status: 400, body }).scope).toBeTypeOf('string');
  });

  test('is a body of an HTTPS answer too, with any status', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 999 }), (body, status) => {
        const answer = classifyHttpAnswer({ provider: 'Any', status, body });
        expect(answer.scope).toBeTypeOf('string');
      }),
    );
  });

  test('and so is any JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (body) => {
        expect(classifyHttpAnswer({ provider: 'Any', status: 400, body }).retry).toBeTypeOf(
          'string',
        );
      }),
    );
  });
});

describe('the meaning of a reply stays', () => {
  const meaningOf = (reply: string, at: SmtpPhase) => {
    const { scope, meaning, retry } = classifySmtpReply({ reply, phase: at });
    return { scope, meaning, retry };
  };

  test.each<[string, (reply: string) => string]>([
    ['with LF instead of CRLF', (reply) => reply.replaceAll('\r\n', '\n')],
    ['with an empty line at the end', (reply) => `${reply}\r\n`],
    ['with a space at the end of each line', (reply) => reply.replaceAll('\r\n', ' \r\n')],
    ['with two spaces for one', (reply) => reply.replaceAll(/(?<=[a-z]) (?=[a-z])/g, '  ')],
  ])('%s', (_, change) => {
    for (const { reply, phase: at } of entries) {
      expect(meaningOf(change(reply), at), reply).toEqual(meaningOf(reply, at));
    }
  });

  test('in lower and upper case', () => {
    // Capitals in the original reply distinguish two words of programs from host names.
    for (const { reply, phase: at } of entries.filter(
      (each) => !/[A-Z]{3}\.|\$\(/.test(each.reply),
    )) {
      expect(meaningOf(reply.toLowerCase(), at), reply).toEqual(meaningOf(reply, at));
    }
  });

  const queueId = fc.stringMatching(/^[A-Z0-9]{8,14}$/).map((id) => ` ${id}`);
  const ip = fc.ipV4().map((address) => ` [${address}]`);
  const host = fc.stringMatching(/^[a-z]{3,9}[0-9]{1,3}$/).map((name) => ` ${name}.example.net`);

  test('with a queue id, an IP or a host at the end', () => {
    fc.assert(
      fc.property(entry, fc.oneof(queueId, ip, host), ({ reply, phase: at }, tail) => {
        expect(meaningOf(`${reply}${tail}`, at)).toEqual(meaningOf(reply, at));
      }),
      { numRuns: 300 },
    );
  });

  test('whatever the addresses in it are called', () => {
    const local = fc.constantFrom(
      'spam',
      'user-unknown',
      'full',
      'quota',
      'sender',
      'blocked',
      'x',
    );
    const domain = fc.constantFrom('limit.example', 'greylist.example.org', 'relay-denied.example');
    const address = /[\w.+=-]{1,60}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,5}/g;
    const withAddress = entries.filter(({ reply }) => reply.match(address)?.length === 1);
    expect(withAddress.length).toBeGreaterThan(20);
    fc.assert(
      fc.property(fc.constantFrom(...withAddress), local, domain, (each, name, at) => {
        const changed = each.reply.replaceAll(address, `${name}@${at}`);
        expect(meaningOf(changed, each.phase)).toEqual(meaningOf(each.reply, each.phase));
      }),
      { numRuns: 300 },
    );
  });

  test('where its accents were lost or doubled', () => {
    const latin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
    const reply = '550 Quota d\u00e9pass\u00e9 : bo\u00eete pleine';
    expect(meaningOf(latin1(reply), 'rcpt')).toEqual(meaningOf(reply, 'rcpt'));
    expect(meaningOf(reply, 'rcpt').meaning).toBe('mailbox_full');
  });
});

describe('a long reply', () => {
  const LONGEST = 64 * 1_024;
  const fill = (part: string): string =>
    part.repeat(Math.ceil(LONGEST / part.length)).slice(0, LONGEST);

  test('is decided by its start and its last line', () => {
    const middle = fill('550-This line says nothing.\r\n').slice(0, LONGEST - 200);
    const reply = `${middle}\r\n550 5.1.1 User unknown`;
    expect(classifySmtpReply({ reply, phase: 'rcpt' }).meaning).toBe('recipient_unknown');
  });

  test.each([
    ['one word', 'a'],
    ['spaces', ' '],
    ['line ends', '\r\n'],
    ['codes', '550-5.1.1 '],
    ['words that rules begin with', 'sender from your account too many recipient '],
    ['words that rules look for around', 'not limit not sender not '],
    ['addresses', 'a@b.c '],
    ['beginnings of addresses', 'a@'],
    ['hosts', 'a.b.c.d.'],
    ['tags', '<a <b '],
    ['comments', '<!-- '],
    ['base64', 'QUJD/+'],
    ['an unclosed JSON', '[{"a":'],
    ['numbers', '1.1.1.1.'],
    ['colons', 'ab:cd:'],
  ])('of %s takes little more time than a short one', (_, part) => {
    const reply = `550 ${fill(part)}`;
    classifySmtpReply({ reply, phase: 'rcpt' });
    const start = process.cpuUsage();
    classifySmtpReply({ reply, phase: 'rcpt' });
    normalizeReply(reply);
    sanitizeReply({ reply, secrets: ['a secret of this provider'] });
    classifyHttpAnswer({ provider: 'Any', status: 500, body: fill(part) });
    const { user } = process.cpuUsage(start);
    expect(user / 1_000).toBeLessThan(1_500);
  });
});
