import { SHOWN_ID } from '../http/as_shown.ts';
import type { Change } from './audited_inputs.ts';

/** What is changed of sends. */
export const sendChanges: Record<string, Change> = {
  'sends.resolve': {
    in: 'project',
    like: 'POST /v1/sends/{id}/resolve',
    input: () => ({ sendId: SHOWN_ID, outcome: 'accepted' }),
  },
  'sends.sendAgain': {
    in: 'project',
    like: 'POST /v1/sends/{id}/resolve',
    input: () => ({ sendId: SHOWN_ID, afterAttempt: 1 }),
  },
  'sends.requeue': {
    in: 'project',
    like: 'POST /v1/sends/{id}/requeue',
    input: () => ({ sendId: SHOWN_ID }),
  },
  'sends.requeueAll': {
    in: 'project',
    like: 'POST /v1/rejected-sends/requeue',
    input: () => ({ reason: 'message_refused' }),
  },
  'sends.cancel': { in: 'project', input: () => ({ sendId: SHOWN_ID }) },
};
