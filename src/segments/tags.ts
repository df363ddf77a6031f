/** What the profile of a suppressed address is tagged with (`profiles/people.ts`). */
export const SUPPRESSED_TAGS: readonly string[] = [
  'hard_bounced',
  'complained',
  'suppressed',
  'provider_suppressed',
  'soft_bounced',
];
export const UNSUBSCRIBED_TAG = 'unsubscribed';
