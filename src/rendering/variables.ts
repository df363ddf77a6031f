import { cleanMembers } from './asserted.ts';

/** What a template may mention. */
export type Variables = {
  profile: object;
  event: object;
  run: object;
  project: object;
  unsubscribe_url: string;
};

/** A person, and what happened to them, as a template sees both. */
export type Sample = Pick<Variables, 'profile' | 'event'>;

export type Person = {
  traits: object;
  email: string | null;
  /** The traits that only browsers asserted. */
  browserNames: readonly string[];
};
export type Happened = {
  name: string;
  properties: object;
  occurred_at: Date;
  source: 'browser' | 'server' | 'system';
};

const toProfile = (person: Person | null, exempt: string | null): object => {
  const names = new Set(person?.browserNames);
  const traits = cleanMembers(person?.traits ?? {}, (name) => names.has(name), exempt);
  return { ...traits, email: person?.email ?? null };
};

const toEvent = (event: Happened | null, exempt: string | null): object => {
  if (event === null) return {};
  const { name, properties, occurred_at, source } = event;
  const said = source === 'browser' ? cleanMembers(properties, () => true, exempt) : properties;
  return { ...said, event: name, occurred_at: occurred_at.toISOString() };
};

/**
 * Returns the variables of a person and an event: one shape for emails, previews and tests. What only a browser
 * asserted is rendered without URLs and cut; `exempt` is the recipient's own address, which may be shown.
 */
export const toSample = (
  person: Person | null,
  event: Happened | null,
  exempt: string | null = person?.email ?? null,
): Sample => ({ profile: toProfile(person, exempt), event: toEvent(event, exempt) });

/** Whether a variable is there that a template names, such as `profile.address.city`. */
export const hasVariable = (sample: Sample, name: string): boolean => {
  let inside: unknown = sample;
  for (const part of name.split('.')) {
    if (typeof inside !== 'object' || inside === null || !Object.hasOwn(inside, part)) return false;
    inside = Reflect.get(inside, part);
  }
  return true;
};
