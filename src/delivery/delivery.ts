import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import * as suppression from '../suppression/suppression.ts';
import { expireSends, planSend } from './queries.ts';
import type { Category, NewSend, OnUnknown, Planned } from './queries.ts';

export { eraser } from './erase.ts';
export { sendSection } from './export.ts';
export { findSentTo, recordFact } from './feedback_queries.ts';
export type { Fact, Found as SentTo } from './feedback_queries.ts';
export { countBetween } from './log_queries.ts';
export { settleLost } from './sweep_queries.ts';
export { readMessageId } from './message.ts';
export { CATEGORIES, ON_UNKNOWN } from './queries.ts';
export type { Category };
export { expireSends };
export { HAND_OFF_DEADLINE_MS } from './hand_off.ts';
export { sendHint } from './send_hint.ts';
export { sendQueued } from './send_queued.ts';

export const EXPIRES_AFTER_HOURS_DEFAULT = 72;

type Given = 'sendId' | 'addressKey' | 'expiresAfterHours' | 'category' | 'onUnknown';
export type Intent = Omit<NewSend, Given> & {
  /** Marketing, unless it is said otherwise. */
  category?: Category;
  /** Past this age it is not handed over any more. */
  expiresAfterHours?: number;
  /** What is done with an outcome that stays unknown; held, so that somebody looks, unless said otherwise. */
  onUnknown?: OnUnknown;
};

/**
 * Makes the one send of a run's step, or answers with the one that is there. An address on the
 * suppression list makes a send that has ended already, so that the refusal can be seen.
 */
export const plan = (scope: Scope, intent: Intent): Promise<Planned> =>
  planSend(scope, {
    category: 'marketing',
    ...intent,
    sendId: newId(),
    addressKey: suppression.addressKey(scope, intent.recipient),
    expiresAfterHours: intent.expiresAfterHours ?? EXPIRES_AFTER_HOURS_DEFAULT,
    onUnknown: intent.onUnknown ?? 'hold',
  });
