import type { Webhook } from '../../api.ts';
import { mayBeStrangers } from '../refused_words.ts';

/** Whether a post was taken after the last that was refused. */
export const isMended = ({ refused, last_notices: [last] }: Webhook): boolean =>
  refused !== null && last !== undefined && last.received_at > refused.last_at;

/**
 * Whether a project uses a webhook, or something waits for a decision there: then its set-up is
 * open.
 */
export const isInUse = (webhook: Webhook): boolean =>
  webhook.last_notices.length > 0 ||
  webhook.refused !== null ||
  webhook.signing_key_set_at !== null ||
  webhook.topics.length > 0 ||
  webhook.pending_topics.length > 0;

/** Returns how a webhook stands, in words and a color. */
export const stateOf = (webhook: Webhook): { word: string; color: string } => {
  if (webhook.refused !== null && !isMended(webhook))
    return mayBeStrangers(webhook)
      ? { word: 'Some posts refused', color: 'orange' }
      : { word: 'Refusing posts', color: 'red' };
  if (webhook.pending_topics.length > 0) return { word: 'Topic waiting', color: 'orange' };
  return webhook.last_notices.length > 0
    ? { word: 'Receiving events', color: 'green' }
    : { word: 'No events yet', color: 'gray' };
};
