// What the examples of the documents tell of: Bob, whom an import suppressed, and Cleo, of whom nothing is known.

const NOW = '2026-01-31T12:00:05.000Z';
const change = {
  reason: null,
  source: 'api',
  note: null,
  import_id: null,
  changed_at: NOW,
};
const IMPORTED = {
  ...change,
  change: 'suppressed',
  reason: 'manual',
  source: 'import',
  import_id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
};

/** Asked about in a body: somebody new, so that what is answered is what was asked for. */
export const CLEO = 'cleo@example.com';
export const NOTE = 'asked for it on the phone';

export const SUPPRESSED_SHOWN = {
  email: CLEO,
  suppressed: { reason: 'manual', source: 'api', created_at: NOW },
  unsubscribed_at: null,
  history: [{ ...change, change: 'suppressed', reason: 'manual', note: NOTE }],
};

export const UNSUBSCRIBED_SHOWN = {
  email: CLEO,
  suppressed: null,
  unsubscribed_at: NOW,
  history: [{ ...change, change: 'unsubscribed', note: NOTE }],
};

export const LIFTED_SHOWN = {
  email: 'bob@example.com',
  suppressed: null,
  unsubscribed_at: null,
  history: [{ ...change, change: 'released', note: 'has a new mailbox' }, IMPORTED],
};

export const RESUBSCRIBED_SHOWN = {
  email: 'bob@example.com',
  suppressed: { reason: 'manual', source: 'import', created_at: NOW },
  unsubscribed_at: null,
  history: [{ ...change, change: 'resubscribed' }, IMPORTED],
};
