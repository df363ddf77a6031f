/** What the profile of a suppressed address is tagged with (`profiles/people.ts`). */
const OF_SUPPRESSED = [
  'hard_bounced',
  'complained',
  'suppressed',
  'provider_suppressed',
  'soft_bounced',
] as const;
export const SUPPRESSED_TAGS: readonly string[] = OF_SUPPRESSED;
export const UNSUBSCRIBED_TAG = 'unsubscribed';
/** Every tag that there is: they follow from addresses, nobody sets another. */
export const TAGS = [...OF_SUPPRESSED, UNSUBSCRIBED_TAG] as const;
