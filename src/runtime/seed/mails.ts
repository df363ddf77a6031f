import { Random } from './random.ts';

/** What the mail's provider told us of it last. */
type Fate = 'delivered' | 'hard_bounce' | 'soft_bounce' | 'complaint' | 'silence';

/** Somebody who signed up: whom the welcome mail is for. */
export type Welcomed = {
  seed: number;
  number: number;
  identityId: string;
  profileId: string;
  email: string;
  firstName: string;
  signedUpAt: number;
  /** The end of the past that is made: nothing is known of later. */
  until: number;
};

export type SeedNotice = {
  kind: 'delivered' | 'bounced' | 'complained' | 'opened' | 'clicked';
  bounceType: 'hard' | 'soft' | null;
  reason: string | null;
  occurredAt: number;
};

export type SeedMail = Omit<Welcomed, 'seed' | 'number' | 'firstName' | 'until'> & {
  runId: string;
  sendId: string;
  eventId: string;
  historyId: string;
  /** Of the template and the automation: the second came when half of the past was over. */
  version: 1 | 2;
  subject: string;
  queuedAt: number;
  acceptedAt: number;
  notices: SeedNotice[];
};

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const BOUNCE_REASONS = {
  hard_bounce: '550 5.1.1 no such mailbox',
  soft_bounce: '452 4.2.2 mailbox full',
} as const;

/** The automation that the seed's mails come from: there to be read, not active, so that nobody is mailed. */
export const WELCOME = 'Seeded welcome';
export const TEMPLATES = [
  { name: 'Welcome', subject: 'Welcome, {{ profile.first_name }}' },
  { name: 'Welcome, with first steps', subject: 'Three first steps, {{ profile.first_name }}' },
] as const;

/** The id of the event with which somebody of the seed signed up. */
export const signUpId = (seed: number, number: number, at: number): string =>
  new Random(seed, number, 0x519).idAt(at);

const fateOf = (random: Random): Fate => {
  const chance = random.unit();
  if (chance < 0.025) return 'hard_bounce';
  if (chance < 0.045) return 'soft_bounce';
  if (chance < 0.05) return 'complaint';
  return chance < 0.06 ? 'silence' : 'delivered';
};

const makeNotices = (random: Random, acceptedAt: number): SeedNotice[] => {
  const fate = fateOf(random);
  if (fate === 'silence') return [];
  const told = (kind: SeedNotice['kind'], occurredAt: number): SeedNotice => ({
    kind,
    bounceType: null,
    reason: null,
    occurredAt,
  });
  const arrivedAt = acceptedAt + (1 + random.below(60)) * SECOND_MS;
  if (fate === 'hard_bounce' || fate === 'soft_bounce') {
    const bounceType = fate === 'hard_bounce' ? 'hard' : 'soft';
    return [{ ...told('bounced', arrivedAt), bounceType, reason: BOUNCE_REASONS[fate] }];
  }
  const made = [told('delivered', arrivedAt)];
  if (fate === 'complaint')
    return [...made, told('complained', arrivedAt + random.below(24 * HOUR_MS))];
  if (!random.isTrue(0.45)) return made;
  const openedAt = arrivedAt + random.below(48 * HOUR_MS);
  made.push(told('opened', openedAt));
  if (random.isTrue(0.25)) made.push(told('clicked', openedAt + random.below(600) * SECOND_MS));
  return made;
};

/** The welcome mail to somebody, and what became of it: the same for the same seed and person. */
export const makeMail = (welcomed: Welcomed, halfway: number): SeedMail => {
  const { seed, number, firstName, signedUpAt, until, ...person } = welcomed;
  const random = new Random(seed, number, 0x3a11);
  const version = signedUpAt < halfway ? 1 : 2;
  const queuedAt = Math.min(signedUpAt + 200 + random.below(800), until);
  const acceptedAt = Math.min(queuedAt + 100 + random.below(2 * SECOND_MS), until);
  return {
    ...person,
    signedUpAt,
    eventId: signUpId(seed, number, signedUpAt),
    runId: random.idAt(queuedAt),
    sendId: random.idAt(queuedAt),
    historyId: random.idAt(acceptedAt),
    version,
    subject: TEMPLATES[version - 1]?.subject.replace(/\{\{.*\}\}/, firstName) ?? '',
    queuedAt,
    acceptedAt,
    notices: makeNotices(random, acceptedAt).filter(({ occurredAt }) => occurredAt <= until),
  };
};

/** Why its address must be left alone since, if it must. */
export const suppressionOf = ({
  notices,
}: SeedMail): { reason: 'hard_bounce' | 'complaint'; tag: string; at: number } | null => {
  for (const { kind, bounceType, occurredAt: at } of notices) {
    if (kind === 'complained') return { reason: 'complaint', tag: 'complained', at };
    if (bounceType === 'hard') return { reason: 'hard_bounce', tag: 'hard_bounced', at };
  }
  return null;
};
