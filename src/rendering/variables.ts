/** What a template may mention. */
export type Variables = {
  profile: object;
  event: object;
  run: object;
  project: object;
  unsubscribe_url: string;
};

/** Somebody, and what happened to them, as a template sees both. */
export type Sample = Pick<Variables, 'profile' | 'event'>;

export type Person = { traits: object; email: string | null };
export type Happened = { name: string; properties: object; occurred_at: Date };

/** One shape for mails, previews and tests: whoever sees a preview sees the mail. */
export const toSample = (person: Person | null, event: Happened | null): Sample => ({
  profile: { ...person?.traits, email: person?.email ?? null },
  event: event
    ? { ...event.properties, event: event.name, occurred_at: event.occurred_at.toISOString() }
    : {},
});
