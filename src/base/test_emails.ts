import type { Audit } from './audit.ts';
import type { Db } from './db.ts';
import { consume, describeWait, limitsWithin } from './rate_limits.ts';
import type { Charge } from './rate_limits.ts';
import { Refusal } from './refusal.ts';
import type { Limit } from './route.ts';

// The caller of a test chooses its recipient, who may be a stranger. So all tests share one budget: of providers, of
// templates and of automations, from the Console and with a server key, in all processes.

/** For one person in all projects, or for one key. */
export const TEST_EMAILS_PER_CALLER_MAX = 30;
export const TEST_EMAILS_PER_PROJECT_MAX = 60;
const HOUR_SECONDS = 3_600;

const limit = limitsWithin(HOUR_SECONDS);
const PER_CALLER = limit('test_emails_per_caller', TEST_EMAILS_PER_CALLER_MAX);
const PER_PROJECT = limit('test_emails_per_project', TEST_EMAILS_PER_PROJECT_MAX);

type Counted = { projectId: string; audit?: Audit | undefined; emails: number };

const chargesOf = ({ projectId, audit }: Counted): Charge[] => {
  const { kind, id } = audit?.actor ?? {};
  return [
    ...(id ? [{ limit: PER_CALLER, key: `${kind} ${id}` }] : []),
    { limit: PER_PROJECT, key: projectId },
  ];
};

/**
 * Counts test emails that are about to be sent, or refuses them. Inside a transaction it is the last statement that
 * locks.
 */
export const countTestEmails = async (
  db: Pick<Db, 'one' | 'query'>,
  counted: Counted,
): Promise<void> => {
  if (counted.emails === 0) return;
  const { exceeded } = await consume(db, chargesOf(counted), counted.emails);
  if (!exceeded) return;
  const { retryAfterSeconds } = exceeded;
  throw new Refusal('rate_limited', {
    detail:
      `A person or key sends at most ${TEST_EMAILS_PER_CALLER_MAX} test emails an hour, and a project ` +
      `${TEST_EMAILS_PER_PROJECT_MAX}. Try again in ${describeWait(retryAfterSeconds)}.`,
    retryAfterSeconds,
  });
};

const WHERE = 'tests of providers, templates and automations';

export const testEmailLimits: readonly Limit[] = [
  {
    name: 'Test emails of a person or a key',
    value: TEST_EMAILS_PER_CALLER_MAX,
    unit: 'an hour',
    where: WHERE,
  },
  {
    name: 'Test emails of a project',
    value: TEST_EMAILS_PER_PROJECT_MAX,
    unit: 'an hour',
    where: WHERE,
  },
];
