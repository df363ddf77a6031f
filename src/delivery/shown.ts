// The examples of sends in the documents: one for each answer.
import { CIRCUIT_FIX } from '../providers/providers.ts';

const SHOWN = {
  id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
  automation_id: '019a9f0c-6c01-7f1e-a9a0-5c1d6a1a2b01',
  run_id: '019a9f0c-6c02-7d4b-8c55-0b6f5a1a2b02',
  step_id: 'welcome',
  profile_id: '019a9f0c-6c03-7a3c-9d17-3e2f4a1a2b03',
  provider_id: '019a9f0c-6c04-7b2d-8e28-7d1e3a1a2b04',
  to: 'ann@example.com',
  status_fix: null,
  queued_at: '2026-01-31T12:00:00.300Z',
  delivered_at: null,
  provider_message_id: null,
  answer: null,
  feedback: [],
  is_test: false,
  content_removed_at: null,
};

export const DELIVERED_SHOWN = {
  ...SHOWN,
  subject: 'Welcome, Ann',
  status: 'delivered' as const,
  status_reason: null,
  attempts: 1,
  accepted_at: '2026-01-31T12:00:00.900Z',
  delivered_at: '2026-01-31T12:00:04.000Z',
  provider_message_id: '<019a9f0c-6c00-7cc3-98c4-dc0c0c07398f.1@example.com>',
  answer: {
    code: 250,
    enhanced_code: '2.0.0',
    text: '2.0.0 Ok: queued as 4bXq2R1mZ9z',
    queue_id: '4bXq2R1mZ9z',
  },
  feedback: [{ kind: 'delivered', occurred_at: '2026-01-31T12:00:04.000Z' }],
};

/** Nothing of it was rendered yet: its provider is left alone. */
export const WAITING_SHOWN = {
  ...SHOWN,
  subject: null,
  status: 'queued' as const,
  status_reason: null,
  attempts: 0,
  accepted_at: null,
  waits_for: {
    because: 'circuit_open' as const,
    reason: null,
    answer: null,
    until: '2026-01-31T12:00:15.000Z',
    fix: CIRCUIT_FIX,
  },
};

export const RESOLVED_SHOWN = {
  ...SHOWN,
  subject: 'Welcome, Ann',
  status: 'accepted' as const,
  status_reason: 'resolved',
  attempts: 1,
  accepted_at: '2026-01-31T12:00:00.900Z',
};

export const REQUEUED_SHOWN = {
  ...SHOWN,
  subject: 'Welcome, Ann',
  status: 'queued' as const,
  status_reason: null,
  attempts: 1,
  accepted_at: null,
};

/** Not rendered yet, so nobody knows its subject. */
export const CANCELLED_SHOWN = {
  ...SHOWN,
  subject: null,
  status: 'cancelled' as const,
  status_reason: 'cancelled',
  attempts: 0,
  accepted_at: null,
};
