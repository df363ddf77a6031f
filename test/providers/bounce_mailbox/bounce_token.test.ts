// The token in the envelope sender of an email: whose bounce it is, and nothing else.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newId } from '../../../src/base/ids.ts';
import { Keys } from '../../../src/base/keys.ts';
import { fromBase32, toBase32 } from '../../../src/providers/bounce_mailbox/base32.ts';
import {
  BOUNCE_TOKEN_CHARS,
  makeBounceToken,
  readBounceToken,
} from '../../../src/providers/bounce_mailbox/bounce_token.ts';
import { VERP_LOCAL_CHARS_MAX } from '../../../src/providers/bounce_mailbox/schema.ts';
import {
  makeEnvelopeSender,
  readEnvelopeSender,
} from '../../../src/providers/bounce_mailbox/verp.ts';
import { LOCAL_PART_CHARS_MAX, readEmail } from '../../../src/base/email_address.ts';

const keys = new Keys(Buffer.alloc(32, 7));
const owner = { projectId: newId(), providerId: newId() };
const sendId = newId();
const token = makeBounceToken(keys, owner, sendId);

describe('a token', () => {
  test('has its length, in lower case, and names its send in either case', () => {
    expect(token).toMatch(new RegExp(`^[a-z2-7]{${BOUNCE_TOKEN_CHARS}}$`));
    expect(readBounceToken(keys, owner, token)).toBe(sendId);
    expect(readBounceToken(keys, owner, token.toUpperCase())).toBe(sendId);
  });

  test('is the same for the same send, and shows nothing of an id', () => {
    expect(makeBounceToken(keys, owner, sendId)).toBe(token);
    const other = makeBounceToken(keys, owner, newId());
    const bytes = [token, other].map((one) => fromBase32(one)?.toString('hex') ?? '');
    for (const id of [sendId, owner.projectId, owner.providerId])
      expect(bytes[0]).not.toContain(id.replaceAll('-', '').slice(0, 8));
    // Ids of sends begin with the same time: their tokens do not.
    expect(bytes[0]?.slice(0, 8)).not.toBe(bytes[1]?.slice(0, 8));
  });

  test.each([
    ['of another provider', { ...owner, providerId: newId() }],
    ['of another project', { ...owner, projectId: newId() }],
  ])('is none for the mailbox %s', (_of, other) => {
    expect(readBounceToken(keys, other, token)).toBe(null);
  });

  test('is none under another key', () => {
    expect(readBounceToken(new Keys(Buffer.alloc(32, 8)), owner, token)).toBe(null);
  });

  test('is none once a single character differs', () => {
    for (let at = 0; at < token.length; at += 1) {
      const other = token[at] === 'a' ? 'b' : 'a';
      const forged = token.slice(0, at) + other + token.slice(at + 1);
      expect(readBounceToken(keys, owner, forged)).toBe(null);
    }
  });

  test('has one spelling: unused bits, other letters and other lengths are none', () => {
    const last = 'abcdefghijklmnopqrstuvwxyz234567'.split('');
    const spellings = last.filter(
      (letter) => readBounceToken(keys, owner, token.slice(0, -1) + letter) !== null,
    );
    expect(spellings).toEqual([token.at(-1)]);
    for (const text of ['', '0'.repeat(45), token.slice(1), `${token}a`, `${token.slice(1)} `])
      expect(readBounceToken(keys, owner, text)).toBe(null);
  });
});

test('base32 decodes every text that it encoded', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      expect(fromBase32(toBase32(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
    }),
  );
});

describe('the envelope sender', () => {
  const enveloped = { ...owner, fromEmail: 'hello@shop.test' };
  const senderOf = (bounces: { address: string; verp: boolean } | null) =>
    makeEnvelopeSender(keys, { ...enveloped, bounces }, sendId);

  test('is the address of the sender, the bounce address, or one of its own', () => {
    expect(senderOf(null)).toBe('hello@shop.test');
    expect(senderOf({ address: 'b@shop.test', verp: false })).toBe('b@shop.test');
    expect(senderOf({ address: 'b@shop.test', verp: true })).toBe(`b+${token}@shop.test`);
    expect(senderOf({ address: 'b+x@shop.test', verp: true })).toBe(`b+x+${token}@shop.test`);
  });

  test(`has a local part of ${LOCAL_PART_CHARS_MAX} characters at most`, () => {
    const local = 'b'.repeat(VERP_LOCAL_CHARS_MAX);
    const longest = senderOf({ address: `${local}@shop.test`, verp: true });
    expect(longest.indexOf('@')).toBe(LOCAL_PART_CHARS_MAX);
    expect(readEmail(longest)).toBe(longest);
    expect(readEmail(senderOf({ address: `${local}b@shop.test`, verp: true }))).toBe(null);
  });

  test('is found in the text around it, behind others', () => {
    const sender = senderOf({ address: 'b@shop.test', verp: true });
    for (const text of [
      `<${sender}>`,
      `"X" <${sender.toUpperCase()}>`,
      `b+${'a'.repeat(45)}@x.y ${sender}`,
    ])
      expect(readEnvelopeSender(keys, owner, text)).toBe(sendId);
    expect(readEnvelopeSender(keys, owner, 'b@shop.test')).toBe(null);
  });

  test('of many addresses the first 20 are tried', () => {
    const others = (count: number) => `b+${'a'.repeat(45)}@x.y `.repeat(count);
    const sender = senderOf({ address: 'b@shop.test', verp: true });
    expect(readEnvelopeSender(keys, owner, others(19) + sender)).toBe(sendId);
    expect(readEnvelopeSender(keys, owner, others(20) + sender)).toBe(null);
  });
});
