import { judgeBounce } from '../../diagnostic.ts';
import { meaning } from '../../notice.ts';
import type { BounceType, Meaning } from '../../notice.ts';

/** SparkPost's bounce classes (its "Bounce Classification Codes") that are bounces. */
const BOUNCES = new Map<string, BounceType>([
  ['1', 'undetermined'],
  ['10', 'hard'],
  ['20', 'soft'],
  ['21', 'soft'],
  ['22', 'soft'],
  ['23', 'block'],
  ['24', 'soft'],
  ['30', 'hard'],
  ['40', 'soft'],
  ['50', 'block'],
  ['51', 'block'],
  ['52', 'block'],
  ['53', 'block'],
  ['54', 'block'],
  ['70', 'soft'],
]);

/** Classes of replies to an email that was delivered, and of emails that SparkPost did not send. */
const OTHERS = new Map<string, Meaning>([
  ['25', meaning('rejected')],
  ['26', meaning('rejected')],
  ['60', meaning('auto_reply')],
  // An email with the word "subscribe" is no consent.
  ['80', meaning('unknown')],
  ['90', meaning('unsubscribed')],
  ['100', meaning('auto_reply')],
]);

/** Returns what a bounce of SparkPost means, by its class and the reply that it quotes. */
export const meaningOfBounce = (bounceClass: string | null, reply: string | null): Meaning => {
  const other = OTHERS.get(bounceClass ?? '');
  if (other) return other;
  const said = BOUNCES.get(bounceClass ?? '') ?? null;
  return meaning('bounced', judgeBounce(said, reply));
};
