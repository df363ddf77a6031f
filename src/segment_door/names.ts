import { hash } from 'node:crypto';
import { EVENT_NAME_CHARS_MAX, toSnakeCase, withoutAccents } from '../ingest/ingest.ts';

const DIGEST_CHARS = 8;
/** Stands before what has no letter to begin with. */
const PREFIX = 'event';

/** How much of a name is spelled out: of a longer one a digest stands for the rest. */
const SPELLED_CHARS_MAX = 400;

/** A letter or digit that no name of ours can hold. */
const FOREIGN = /[^\p{ASCII}]/u;

const digestOf = (name: string): string => hash('sha256', name, 'hex').slice(0, DIGEST_CHARS);

/**
 * The name of an event of ours for one of Segment's: `Order Completed` and `orderCompleted` are `order_completed`.
 * Accents go. Where more is lost (other scripts, more than 100 characters) a digest of the whole name is added, so
 * that two of them stay two; what begins with a digit, or holds no letter, gets `event_` in front. The same name
 * always gives the same. Null for a name of nothing but blanks.
 */
export const toEventName = (given: string): string | null => {
  const name = given.trim();
  if (name === '') return null;
  const plain = withoutAccents(name.slice(0, SPELLED_CHARS_MAX));
  const isForeign = FOREIGN.test(plain.replaceAll(/[^\p{L}\p{N}]/gu, ''));
  const begins = /^[^a-z\d]*[a-z]/i.test(plain) ? plain : `${PREFIX}_${plain}`;
  const snake = toSnakeCase(begins);
  const isSpelled = name.length <= SPELLED_CHARS_MAX;
  const isWhole = isSpelled && !isForeign && (begins === plain || snake !== PREFIX);
  if (isWhole && snake.length <= EVENT_NAME_CHARS_MAX) return snake;
  const kept = snake.slice(0, EVENT_NAME_CHARS_MAX - DIGEST_CHARS - 1).replace(/_$/, '');
  return `${kept}_${digestOf(name)}`;
};
