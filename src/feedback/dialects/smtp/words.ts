import { toWord } from './bounce_words.ts';
import { meaning } from '../../notice.ts';
import type { Meaning } from '../../notice.ts';

/**
 * The names that relays have for one thing: of several that are there the first that can be read
 * counts.
 */
export const EVENT_NAMES = ['event', 'type'] as const;
export const RECIPIENT_NAMES = ['recipient', 'email', 'rcpt', 'to'] as const;
export const TIME_NAMES = ['occurred_at', 'timestamp', 'time'] as const;
export const MESSAGE_ID_NAMES = ['message_id', 'Message-ID'] as const;
export const CODE_NAMES = ['enhanced_code', 'code', 'smtp_code', 'status'] as const;
export const REASON_NAMES = ['reason', 'diagnostic', 'response', 'description'] as const;
export const ID_NAMES = ['event_id', 'id', 'uuid'] as const;

/** Words for a bounce that do not say how hard it is. */
export const BOUNCE_WORDS = ['bounce', 'bounced'] as const;

/** Every other word for what happened, with what it means. */
export const SAID: readonly { words: readonly string[]; means: Meaning; told: string }[] = [
  {
    words: ['delivered', 'delivery', 'sent_ok'],
    means: meaning('delivered'),
    told: 'the receiver has it',
  },
  {
    words: ['hard_bounce', 'hard_bounced', 'permanent_fail', 'invalid_email'],
    means: meaning('bounced', 'hard'),
    told: 'a hard bounce, which suppresses the address',
  },
  {
    words: ['soft_bounce', 'soft_bounced'],
    means: meaning('bounced', 'soft'),
    told: 'a soft bounce',
  },
  {
    words: ['temporary_fail', 'deferred', 'delivery_delayed', 'delay'],
    means: meaning('deferred', 'soft'),
    told: 'the relay tries again',
  },
  {
    words: [
      'complaint',
      'complained',
      'spam',
      'spam_complaint',
      'spam_report',
      'spamreport',
      'abuse',
    ],
    means: meaning('complained'),
    told: 'a complaint, which suppresses the address',
  },
  {
    words: ['unsubscribe', 'unsubscribed'],
    means: meaning('unsubscribed'),
    told: 'the wish for no more marketing mail',
  },
  {
    words: ['resubscribe', 'resubscribed'],
    means: meaning('resubscribed'),
    told: 'takes that back',
  },
  {
    words: ['reject', 'rejected', 'dropped', 'blocked'],
    means: meaning('rejected'),
    told: 'the relay did not send it',
  },
  { words: ['open', 'opened', 'opens'], means: meaning('opened'), told: 'somebody opened it' },
  { words: ['click', 'clicked', 'clicks'], means: meaning('clicked'), told: 'somebody clicked' },
];

const meanings: Record<string, Meaning> = Object.assign(
  Object.create(null),
  ...SAID.map(({ words, means }) => Object.fromEntries(words.map((word) => [toWord(word), means]))),
) as Record<string, Meaning>;

/** What a name of an event says, as `toWord` writes it; null for a word that is none of ours. */
export const findMeaning = (word: string): Meaning | null => meanings[word] ?? null;

export const isBounce = (word: string): boolean => BOUNCE_WORDS.some((one) => one === word);
