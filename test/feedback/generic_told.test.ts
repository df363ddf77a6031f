// What the description says of generic webhooks is what is done with them.
import { expect, test } from 'vitest';
import { GONE_ENHANCED, NEVER_ACCEPTS } from '../../src/base/reply_codes.ts';
import { SAID_AS } from '../../src/feedback/dialects/smtp/bounce_words.ts';
import { smtp as generic } from '../../src/feedback/dialects/smtp/smtp.ts';
import {
  BOUNCE_TYPE_DESCRIPTION,
  CODES_DESCRIPTION,
  EVENT_DESCRIPTION,
} from '../../src/feedback/dialects/smtp/described.ts';
import { BOUNCE_WORDS, SAID } from '../../src/feedback/dialects/smtp/words.ts';
import { makeDocument } from '../../src/http/openapi.ts';

const meaning = (event: object): string => {
  const raw = Buffer.from(JSON.stringify({ recipient: 'ann@example.com', ...event }));
  const { notices } = generic.read({
    raw,
    contentType: 'application/json',
    receivedAt: new Date(),
  });
  return [notices[0]?.kind, notices[0]?.bounceType].filter(Boolean).join('/');
};
/** The words in code of a text, after those that say what it is about. */
const wordsOf = (text: string): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

test('each word that is told of is read as it is told', () => {
  const lines = EVENT_DESCRIPTION.split('\n\n');
  for (const { words, means, told } of SAID) {
    const line = lines.find((one) => one.endsWith(`: ${told}.`)) ?? '';
    expect(wordsOf(line)).toEqual(words);
    const expected = [means.kind, means.bounceType].filter(Boolean).join('/');
    for (const event of words) expect([event, meaning({ event })]).toEqual([event, expected]);
  }
  expect(lines[1]).toContain(BOUNCE_WORDS.map((word) => `\`${word}\``).join(', '));
  for (const event of BOUNCE_WORDS) expect(meaning({ event })).toBe('bounced/soft');
});

test('no word that is read is left out', () => {
  const told = wordsOf(EVENT_DESCRIPTION);
  for (const event of ['bounce', 'bounced', 'hard_bounce', 'spamreport', 'resubscribed', 'opens'])
    expect(told).toContain(event);
  expect(meaning({ event: 'email.HardBounce' })).toBe('bounced/hard');
});

test('each word for how hard a bounce is, alone and with what may stand behind it', () => {
  for (const { type, words, behind } of SAID_AS) {
    expect(BOUNCE_TYPE_DESCRIPTION).toContain(
      `${words.map((word) => `\`${word}\``).join(', ')}: ${type}.`,
    );
    for (const word of words)
      for (const end of ['', ...behind])
        expect([word, end, meaning({ event: 'bounce', bounce_type: `${word} ${end}` })]).toEqual([
          word,
          end,
          `bounced/${type}`,
        ]);
  }
});

test('each code that is described makes a bounce hard as it is described', () => {
  const described = wordsOf(CODES_DESCRIPTION);
  for (const code of [...GONE_ENHANCED, ...NEVER_ACCEPTS]) {
    expect(described).toContain(String(code));
    expect([code, meaning({ event: 'bounce', code })]).toEqual([code, 'bounced/hard']);
  }
  for (const code of ['5.6.1', '5.7.1'])
    expect(meaning({ event: 'bounce', code })).toBe('bounced/block');
  for (const code of ['5.1.0', 550, '4.7.1'])
    expect(meaning({ event: 'bounce', code })).toBe('bounced/soft');
  for (const reason of ['user unknown', 'mailbox unavailable']) expect(described).toContain(reason);
  expect(meaning({ event: 'bounce', code: 550, reason: 'user unknown' })).toBe('bounced/hard');
  expect(meaning({ event: 'bounce', code: 550, reason: 'mailbox unavailable' })).toBe(
    'bounced/soft',
  );
});

test('the description of the API says all of it', () => {
  const { Notice } = makeDocument().components?.schemas ?? {};
  const { properties = {} } = Notice as { properties?: Record<string, { description?: string }> };
  const of = (name: string) => properties[name]?.description;
  expect(of('event')).toBe(EVENT_DESCRIPTION);
  expect([of('bounce_type'), of('severity')]).toEqual([
    BOUNCE_TYPE_DESCRIPTION,
    BOUNCE_TYPE_DESCRIPTION,
  ]);
  for (const name of ['enhanced_code', 'code', 'smtp_code', 'status'])
    expect(of(name)).toBe(CODES_DESCRIPTION);
});
