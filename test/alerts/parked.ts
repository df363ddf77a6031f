/** The alert of a provider that is parked. */
export const PARKED = {
  kind: 'provider_parked',
  subject: 'relay',
  subjectName: 'Relay',
  summary: 'It is parked.',
  fix: 'Save it.',
  details: { reason: 'authentication_failed' },
} as const;
