import { anyOf } from '../rules/pattern.ts';
import type { Rule } from '../rules/rule.ts';
import * as says from './conditions.ts';
import * as names from './subjects.ts';

const MAILBOX = anyOf(names.RECIPIENT, names.PERSON);
/** A reply that says any of this is not about the recipient alone. */
const OF_SENDER = anyOf(names.SENDING, names.OWN, names.SENDER, says.LISTED, says.OVER_LIMIT);

/** About the account, the sender and the machine: none of these ends a send. */
const SENDER_SIDE: readonly Rule[] = [
  {
    when: says.REPUTATION,
    also: anyOf(names.IP, names.SERVER),
    at: ['connect', 'ehlo'],
    means: 'relay_reputation',
    at4xx: 'relay_reputation_later',
  },
  {
    when: says.SPAM,
    also: names.IP,
    at: ['connect', 'ehlo'],
    means: 'relay_reputation',
    at4xx: 'relay_reputation_later',
  },
  {
    when: says.LISTED,
    means: 'relay_reputation',
    at4xx: 'relay_reputation_later',
  },
  {
    when: says.FULL,
    also: MAILBOX,
    not: anyOf(names.SENDING, says.TOO_LARGE),
    means: 'mailbox_full',
  },
  {
    when: says.OVER_LIMIT,
    also: anyOf(names.SENDING, names.OWN, says.PERIOD),
    means: 'account_limit',
  },
  { when: says.OVER_LIMIT, also: names.RECIPIENT, means: 'temporary_recipient' },
  {
    when: anyOf(says.OFF, says.REFUSED),
    also: names.IP,
    means: 'relay_reputation',
    at4xx: 'relay_reputation_later',
  },
  {
    when: anyOf(says.OFF, says.REFUSED),
    also: names.SERVER,
    not: MAILBOX,
    means: 'relay_reputation',
    at4xx: 'relay_reputation_later',
  },
  { when: says.OFF, at: ['auth'], means: 'account_suspended' },
  { when: says.LOGIN_WRONG, means: 'auth_failed' },
  { when: says.OFF, also: names.SENDING, means: 'account_suspended' },
  { when: says.OFF, also: names.OWN, not: names.RECIPIENT, means: 'account_suspended' },
  { when: says.LOGIN_NEEDED, means: 'auth_required' },
  { when: says.FORBIDDEN, also: names.SENDER, means: 'sender_not_allowed' },
  { when: says.FORBIDDEN, also: names.SENDING, means: 'sender_not_allowed' },
  { when: anyOf(says.FORBIDDEN, says.REFUSED), also: says.RELAYING, means: 'relay_denied' },
];

/** About the recipient and the message. */
const RECIPIENT_SIDE: readonly Rule[] = [
  {
    when: says.BY_RECIPIENT,
    also: anyOf(says.REFUSED, says.FORBIDDEN, says.BY_RECIPIENT),
    not: anyOf(names.SENDING, names.OWN, says.LISTED, says.OVER_LIMIT, says.PASSING),
    at: ['rcpt', 'data', 'body', 'any'],
    means: 'recipient_policy',
  },
  { when: says.TOO_LARGE, at: ['mail', 'data', 'body', 'any'], means: 'message_too_large' },
  {
    when: says.OFF,
    also: MAILBOX,
    not: anyOf(OF_SENDER, says.PASSING, names.SERVER),
    at: ['rcpt', 'data', 'body', 'any'],
    means: 'recipient_disabled',
  },
  {
    when: says.GONE,
    also: MAILBOX,
    not: anyOf(OF_SENDER, says.PASSING, names.SERVER),
    at: ['rcpt', 'data', 'body', 'any'],
    means: 'recipient_unknown',
  },
  {
    when: says.SPAM,
    also: names.SERVER,
    not: names.MESSAGE,
    means: 'relay_reputation',
    at4xx: 'relay_reputation_later',
  },
  {
    when: says.SPAM,
    also: anyOf(names.MESSAGE, says.REFUSED),
    not: names.SENDER,
    means: 'content_refused',
    at4xx: 'content_later',
  },
];

/** That it passes, where nothing else is said. */
export const PASSING_RULES: readonly Rule[] = [
  { when: says.PASSING, also: MAILBOX, at: ['rcpt', 'body', 'any'], means: 'temporary_recipient' },
  { when: says.PASSING, means: 'temporary_local' },
];

/**
 * Replies in other languages: a subject and what is said about it, in any order. One table for all
 * languages, over the words of `subjects.ts` and `conditions.ts`.
 */
export const LANGUAGE_RULES: readonly Rule[] = [...SENDER_SIDE, ...RECIPIENT_SIDE];
