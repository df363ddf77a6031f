import type { DomainHealth } from './check.ts';
import type { Finding, Status } from './findings.ts';
import type { Brief, FindingChange } from './schema.ts';

/** So many checks in a row may go without an answer before that counts as what was found. */
export const UNANSWERED_CHECKS_MAX = 3;

/** Findings by name: `spf`, `dkim:s1`. */
export type Findings = Record<string, Brief>;

/** How findings stood before they got worse, by name. While there are any, the owner is alerted. */
export type Fallen = Record<string, Status>;

/** What is kept between two checks. */
export type Baseline = { findings: Findings; fallen: Fallen; unansweredCount: number };

/** What a check means, compared with what is known. */
export type Comparison = {
  known: Baseline;
  changes: FindingChange[];
  /** The findings that got worse with this check. */
  worse: string[];
  /** Whether the last finding that had got worse is as good as before. */
  isRecovered: boolean;
};

const NO_ANSWER_CODES = ['no_answer', 'check_stopped', 'dmarc_report_unknown'];
/** How much worse a state is than another. That name servers do not answer is worse than a warning. */
const RANKS = { good: 0, warning: 1, unknown: 2, bad: 3 } as const satisfies Record<Status, number>;

const toBrief = ({ status, code, summary, found }: Finding): Brief => ({
  status,
  code,
  summary,
  // Name servers answer in any order.
  found: found.toSorted(),
});

/** Returns the findings of a check by name. */
export const findingsOf = (health: DomainHealth): Findings => ({
  spf: toBrief(health.spf),
  ...Object.fromEntries(health.dkim.map((key) => [`dkim:${key.selector}`, toBrief(key)])),
  dmarc: toBrief(health.dmarc),
  alignment: toBrief(health.alignment),
  mail_from: toBrief(health.mail_from),
  replies: toBrief(health.replies),
});

/** Returns the selectors whose keys were found, or were found before they fell. */
export const selectorsOf = ({ findings, fallen }: Baseline): string[] =>
  Object.entries(findings).flatMap(([name, { code }]) => {
    const wasThere = code !== 'dkim_missing' || fallen[name] !== undefined;
    return name.startsWith('dkim:') && wasThere ? [name.slice('dkim:'.length)] : [];
  });

const isUnanswered = ({ code }: Brief): boolean => NO_ANSWER_CODES.includes(code);

/** Whether two findings say the same. Their words may change with the number of lookups, for one. */
const isSame = (before: Brief, after: Brief): boolean =>
  before.status === after.status &&
  before.code === after.code &&
  JSON.stringify(before.found) === JSON.stringify(after.found);

/**
 * Compares what a check found with what is known. What name servers did not answer stays as it is known, until it has
 * stayed so for several checks. `known` is null for the first check of a domain, whose findings are no change for the
 * worse.
 */
export const compare = (known: Baseline | null, now: Findings): Comparison => {
  const before = known?.findings ?? {};
  const silent = Object.values(now).some(isUnanswered) ? (known?.unansweredCount ?? 0) + 1 : 0;
  const isLasting = known === null || silent >= UNANSWERED_CHECKS_MAX;
  const findings = Object.fromEntries(
    Object.entries(now).map(([name, found]) => [
      name,
      isUnanswered(found) && !isLasting ? (before[name] ?? found) : found,
    ]),
  );
  const changes = [...new Set([...Object.keys(before), ...Object.keys(findings)])]
    .map((finding) => ({
      finding,
      before: before[finding] ?? null,
      after: findings[finding] ?? null,
    }))
    .filter((change) => !(change.before && change.after && isSame(change.before, change.after)));
  const worse = changes.filter(isWorse).map(({ finding }) => finding);
  const fallen = follow(known?.fallen ?? {}, changes, findings);
  return {
    known: { findings, fallen, unansweredCount: silent },
    changes,
    worse,
    isRecovered: isEmpty(fallen) && !isEmpty(known?.fallen ?? {}),
  };
};

const isWorse = ({ before, after }: FindingChange): boolean =>
  before !== null && after !== null && RANKS[after.status] > RANKS[before.status];

const isEmpty = (record: object): boolean => Object.keys(record).length === 0;

/** Which findings are worse than they were, after some changes. */
const follow = (fallen: Fallen, changes: readonly FindingChange[], now: Findings): Fallen => {
  const started = Object.fromEntries(
    changes.flatMap((change): [string, Status][] =>
      change.before && isWorse(change) ? [[change.finding, change.before.status]] : [],
    ),
  );
  // The state from which a finding fell first is the one to come back to.
  return Object.fromEntries(
    Object.entries({ ...started, ...fallen }).filter(([name, from]) => {
      const found = now[name];
      return found !== undefined && RANKS[found.status] > RANKS[from];
    }),
  );
};
