// What the examples of the documents tell of: Ann, and a device that is linked to her.

const SEEN_AT = '2026-01-31T12:00:00.000Z';

export const PROFILE_SHOWN = {
  id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
  external_id: 'ann',
  identifiers: [{ kind: 'external', value: 'ann', first_seen_at: SEEN_AT }],
  email: 'ann@example.com',
  traits: { email: 'ann@example.com', first_name: 'Ann' },
  tags: [],
  suppressed: false,
  first_seen_at: SEEN_AT,
  last_seen_at: '2026-02-01T09:30:00.000Z',
  updated_at: SEEN_AT,
};

/** Of no one who is known: who it is was undone. */
export const DEVICE_SHOWN = {
  ...PROFILE_SHOWN,
  id: '019a9f0c-6c05-7d1f-b0a4-1f2e5a1a2b06',
  external_id: null,
  identifiers: [{ kind: 'anonymous', value: 'device-7', first_seen_at: SEEN_AT }],
  email: null,
  traits: {},
} as const;

export const LINK_SHOWN = {
  id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
  anonymous_id: 'device-7',
  external_id: 'ann',
  profile_id: '019a9f0c-6c03-7a3c-9d17-3e2f4a1a2b03',
  source: 'identify',
  key_type: 'server',
  status: 'active',
  created_at: SEEN_AT,
  undone_at: null,
  undone_by: null,
  confirmed_at: null,
  replaces: null,
  replaced_by: null,
};

const ALIAS_SHOWN = { ...LINK_SHOWN, source: 'alias' };
export const LINKED_SHOWN = { link: { ...ALIAS_SHOWN, anonymous_id: 'device-8' } };
export const UNDONE_SHOWN = {
  link: {
    ...ALIAS_SHOWN,
    status: 'undone',
    undone_at: '2026-01-31T12:10:00.000Z',
    undone_by: 'server_key',
  },
  restored: null,
  profiles: [{ ...PROFILE_SHOWN, id: LINK_SHOWN.profile_id }, DEVICE_SHOWN],
};

export const PREVIEW_SHOWN = {
  link: { ...LINK_SHOWN, source: 'alias' },
  is_possible: true,
  restores: null,
  stays: {
    profile_id: LINK_SHOWN.profile_id,
    identifiers: [{ kind: 'external' as const, value: 'ann' }],
    email: { before: 'ann@example.com', after: 'ann@example.com' },
    traits: [
      {
        key: 'plan',
        before: {
          value: 'pro',
          identifier: { kind: 'anonymous' as const, value: 'device-7' },
          authority: 'server' as const,
          set_at: SEEN_AT,
        },
        after: null,
      },
    ],
    unchanged: 2,
  },
  leaves: {
    profile_id: DEVICE_SHOWN.id,
    identifiers: [{ kind: 'anonymous' as const, value: 'device-7' }],
    email: { before: null, after: null },
    traits: [],
    unchanged: 0,
  },
  events: { count: 12, is_capped: false },
  runs: [],
  suppressions: [],
};
