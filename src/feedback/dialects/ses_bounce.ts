import { judgeBounce } from '../diagnostic.ts';
import { meaning } from '../notice.ts';
import type { Meaning } from '../notice.ts';

/** Subtypes of transient bounces whose cause is the message. */
const OF_MESSAGE: readonly unknown[] = ['ContentRejected', 'AttachmentRejected', 'MessageTooLarge'];

/**
 * Returns what a bounce means that Amazon SES reports, itself or through a service that sends with
 * it: by its type, its subtype, and the reply of the recipient's host. SES calls permanent what a
 * host refused for good, whatever the cause, so the reply decides.
 */
export const meaningOfSesBounce = (
  type: unknown,
  subType: unknown,
  reply: string | null,
): Meaning => {
  if (type === 'Permanent') return meaning('bounced', judgeBounce('hard', reply));
  if (type !== 'Transient') return meaning('bounced', 'undetermined');
  return meaning('bounced', OF_MESSAGE.includes(subType) ? 'block' : judgeBounce('soft', reply));
};
