import { cleanAsserted, cleanMembers, isPlainAddress } from './asserted.ts';

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

/** The names of those variables whose values only a browser asserted. */
export type Asserted = { profile: readonly string[]; event: readonly string[] };

/** A sample of a person who is known, and which of it only a browser asserted. */
export type KnownSample = { sample: Sample; asserted: Asserted | null };

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

type Members = { members: object; asserted: string[] };

const toProfile = (person: Person | null, exempt: string | null): Members => {
  const { traits = {}, email = null, browserNames = [] } = person ?? {};
  const names = new Set(browserNames);
  const isAsserted = (name: string): boolean => names.has(name);
  const cleaned = cleanMembers(traits, isAsserted, exempt);
  const address = isAsserted('email') ? cleanAsserted(email, exempt) : email;
  const asserted = Object.keys(cleaned).filter((name) => name !== 'email' && isAsserted(name));
  return { members: { ...cleaned, email: address }, asserted };
};

const toEvent = (event: Happened | null, exempt: string | null): Members => {
  if (event === null) return { members: {}, asserted: [] };
  const { name, properties, occurred_at, source } = event;
  const own = { event: name, occurred_at: occurred_at.toISOString() };
  if (source !== 'browser') return { members: { ...properties, ...own }, asserted: [] };
  const cleaned = cleanMembers(properties, () => true, exempt);
  const asserted = Object.keys(cleaned).filter((one) => !Object.hasOwn(own, one));
  return { members: { ...cleaned, ...own }, asserted };
};

/**
 * Returns the variables of a person and an event: one shape for emails, previews and tests. What only a browser
 * asserted is rendered without URLs and cut; `exempt` is the recipient's own address, shown whole if it is plain.
 */
export const toSample = (
  person: Person | null,
  event: Happened | null,
  exempt: string | null = person?.email ?? null,
): KnownSample => {
  const whole = exempt !== null && isPlainAddress(exempt) ? exempt : null;
  const profile = toProfile(person, whole);
  const happened = toEvent(event, whole);
  return {
    sample: { profile: profile.members, event: happened.members },
    asserted:
      profile.asserted.length + happened.asserted.length > 0
        ? { profile: profile.asserted, event: happened.asserted }
        : null,
  };
};

/** Whether a variable is there that a template names, such as `profile.address.city`. */
export const hasVariable = (sample: Sample, name: string): boolean => {
  let inside: unknown = sample;
  for (const part of name.split('.')) {
    if (typeof inside !== 'object' || inside === null || !Object.hasOwn(inside, part)) return false;
    inside = Reflect.get(inside, part);
  }
  return true;
};
