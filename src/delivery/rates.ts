// The rates of bounces and complaints of each provider in the last 24 hours, and whether they alert the owner.
import * as alerts from '../alerts/alerts.ts';
import type { AlertKind } from '../alerts/alerts.ts';
import type { Scope } from '../base/db.ts';
import { deleteCounts, listCounts } from './rate_queries.ts';
import type { ProviderCounts } from './rate_queries.ts';

/** Over how many hours rates are taken: the hour (UTC) that is running, and those before it. */
export const RATE_HOURS = 24;
/** Below so many emails in that time a rate says nothing, and opens no alert. */
export const BOUNCE_RATE_SENDS_MIN = 100;
export const COMPLAINT_RATE_SENDS_MIN = 1_000;
/** An alert resolves when its rate is at most this part of its threshold, so that it does not flap. */
const RATE_RESOLVES_AT_PERCENT = 80;
/** Counts are kept for so many hours. */
const COUNTS_KEPT_HOURS = 48;

type Rate = {
  kind: Extract<AlertKind, 'bounce_rate' | 'complaint_rate'>;
  sendsMin: number;
  reportedOf: (counts: ProviderCounts) => number;
  what: string;
  fix: string;
};

const RATES: readonly Rate[] = [
  {
    kind: 'bounce_rate',
    sendsMin: BOUNCE_RATE_SENDS_MIN,
    reportedOf: ({ bounced }) => bounced,
    what: 'bounced for good',
    fix:
      'Look at the bounced emails in the send log. Stop sending to addresses from old lists or unconfirmed forms: ' +
      'providers suspend accounts and receivers block senders whose email bounces.',
  },
  {
    kind: 'complaint_rate',
    sendsMin: COMPLAINT_RATE_SENDS_MIN,
    reportedOf: ({ complained }) => complained,
    what: 'were reported as spam',
    fix:
      'Look at the automations behind the complaints in the send log. Send less often, only to people who asked for ' +
      'it, and make unsubscribing easy: receivers put the email of such senders into the spam folder.',
  },
];

const THOUSAND = 1_000;
const round = (percent: number): number => Math.round(percent * THOUSAND) / THOUSAND;

/** What a rate means for its alert; `keep` leaves it as it is. */
export const judgeRate = (
  { sent, reported }: { sent: number; reported: number },
  { sendsMin, thresholdPercent }: { sendsMin: number; thresholdPercent: number },
): 'open' | 'resolve' | 'keep' => {
  // Whole numbers on both sides: thresholds have three digits after the point.
  const actual = reported * 100 * THOUSAND;
  const bound = sent * Math.round(thresholdPercent * THOUSAND);
  if (sent >= sendsMin && actual > bound) return 'open';
  const isWell = actual * 100 <= bound * RATE_RESOLVES_AT_PERCENT;
  return isWell || sent < sendsMin / 2 ? 'resolve' : 'keep';
};

const checkOne = async (
  scope: Scope,
  counts: ProviderCounts,
  { rate, thresholdPercent }: { rate: Rate; thresholdPercent: number },
): Promise<void> => {
  const { provider_id: subject, sent, display_name, from_email } = counts;
  const reported = rate.reportedOf(counts);
  const verdict = judgeRate({ sent, reported }, { sendsMin: rate.sendsMin, thresholdPercent });
  if (verdict === 'resolve') await alerts.resolveAlert(scope, subject, rate.kind);
  if (verdict !== 'open' || display_name === null) return;
  const percent = round((reported / sent) * 100);
  await alerts.openAlert(scope, {
    kind: rate.kind,
    subject,
    subjectName: display_name,
    summary:
      `In the last ${RATE_HOURS} hours ${reported} of ${sent} emails through ${display_name} (${from_email}) ` +
      `${rate.what}: ${percent} %, more than the threshold of ${thresholdPercent} %.`,
    fix: rate.fix,
    details: { percent, threshold_percent: thresholdPercent, sent, reported },
  });
};

/** Without any count there is no rate left to speak of. */
const resolveOthers = async (
  scope: Scope,
  kind: Rate['kind'],
  counted: ReadonlySet<string>,
): Promise<void> => {
  const open = await alerts.listOpenSubjects(scope, kind);
  for (const subject of open)
    if (!counted.has(subject)) await alerts.resolveAlert(scope, subject, kind);
};

/**
 * Opens and resolves the alerts about rates of a project. Reads one row for each provider and hour, whatever was sent.
 * Safe to repeat: an alert that is open is not opened again.
 */
export const checkRates = async (scope: Scope): Promise<void> => {
  const counts = await listCounts(scope, RATE_HOURS);
  const settings = await alerts.readAlertSettings(scope);
  const counted = new Set(counts.map(({ provider_id }) => provider_id));
  for (const rate of RATES) {
    const thresholdPercent =
      rate.kind === 'bounce_rate' ? settings.bounce_percent : settings.complaint_percent;
    for (const one of counts) await checkOne(scope, one, { rate, thresholdPercent });
    await resolveOthers(scope, rate.kind, counted);
  }
  await deleteCounts(scope, COUNTS_KEPT_HOURS);
};
