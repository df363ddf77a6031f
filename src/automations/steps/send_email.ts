import { isMost, UNCONFIRMED } from '../../delivery/delivery.ts';
import type { Limits } from '../../delivery/delivery.ts';
import { canonicalDuration, earlier, later, quietUntil } from '../clock.ts';
import type { StepOf } from '../step_schema.ts';
import type { Take, Taken, Walk } from '../world.ts';

/** What a mail of this run keeps to; transactional mail comes at any time, and however much there was. */
const settingsOf = ({ run }: Walk) => {
  const { quiet_hours, frequency_cap, category } = run.definition.settings;
  return category === 'transactional'
    ? { quiet_hours: null, frequency_cap: null }
    : { quiet_hours, frequency_cap };
};

/** Until when the person is left alone, by the clock on their wall. */
const findQuiet = (walk: Walk): Date | null => {
  const { quiet_hours: hours } = settingsOf(walk);
  return hours === null ? null : quietUntil(walk.now, hours, walk.zone);
};

/** By so much months of a calendar may differ: a month after 31 January is 28 February, a month before that is not. */
const MONTHS_DIFFER = 'P4D';

/** When the person may be sent the next mail, where they have had as many as they may. */
const findCapped = async (walk: Walk): Promise<Date | null> => {
  const { now, zone, reader } = walk;
  const { frequency_cap: cap } = settingsOf(walk);
  if (cap === null) return null;
  const since = earlier(earlier(now, cap.per, zone), MONTHS_DIFFER, zone);
  const sent = await reader.sentSince(since, cap.of);
  const counted = sent.map((at) => later(at, cap.per, zone)).filter((until) => until > now);
  return counted.at(-cap.sends) ?? null;
};

/**
 * Whether anyone with the publishable key may have started the run. Only a server key and the people of the project are
 * known not to be strangers: where nothing is known, the run counts as browser-triggered.
 */
const mayBeBrowserTriggered = ({ run }: Walk): boolean => run.source !== 'server';

/** What the mail is asked again when it is handed over: it may have waited by then, and others gone before it. */
const limitsOf = (walk: Walk, isUnconfirmed: boolean): Limits | null => {
  const { quiet_hours, frequency_cap: cap } = settingsOf(walk);
  const isBrowserTriggered = mayBeBrowserTriggered(walk);
  if (quiet_hours === null && cap === null && !isUnconfirmed && !isBrowserTriggered) return null;
  return {
    ...(quiet_hours ? { quiet_hours } : {}),
    ...(cap ? { frequency_cap: { ...cap, per: canonicalDuration(cap.per) } } : {}),
    ...(isUnconfirmed ? { unconfirmed: UNCONFIRMED } : {}),
    ...(isBrowserTriggered ? { browser_triggered: true } : {}),
    zone: walk.run.definition.settings.timezone,
  };
};

type Skipped = { reason: string; decision: string };

/** A mail that is not sent at all, and why not. */
const skip = async (
  walk: Walk,
  step: StepOf<'send_email'>,
  { reason, decision }: Skipped,
): Promise<Taken> => {
  await walk.effects.skip(walk.stepId, reason);
  return { kind: 'goes_on', next: step.next, decision };
};

const NO_ADDRESS = { reason: 'no_address', decision: 'no_address' };
const OVER_CAP = { reason: 'frequency_cap', decision: 'frequency_cap_skipped' };
const OVER_RECIPIENT_CAP = { reason: 'recipient_cap', decision: 'recipient_cap' };
const UNCONFIRMED_ADDRESS = { reason: 'unconfirmed_address', decision: 'unconfirmed_address' };

/** What keeps the mail from being planned now, if anything does. */
const findObstacle = async (walk: Walk, step: StepOf<'send_email'>): Promise<Taken | null> => {
  const quiet = findQuiet(walk);
  if (quiet !== null) {
    const detail = { until: quiet.toISOString() };
    return { kind: 'waits', until: quiet, decision: 'quiet_hours', detail };
  }
  const capped = await findCapped(walk);
  if (capped === null) return null;
  if (settingsOf(walk).frequency_cap?.over === 'skip') return skip(walk, step, OVER_CAP);
  const detail = { until: capped.toISOString() };
  return { kind: 'waits', until: capped, decision: 'frequency_cap', detail };
};

/**
 * Hands the one mail of this step to delivery; in quiet hours, or past the cap, later or not at all. An address that
 * only a browser has said may be a stranger's: it gets little.
 */
export const sendEmail: Take<'send_email'> = async (walk, step) => {
  const { run, now, person, reader, effects, stepId } = walk;
  const { next } = step;
  if (run.until !== null && now < run.until) return { kind: 'waits', until: run.until };
  // Who comes here again has waited before: only then is there anything to ask.
  if (run.entries > 0 && (await reader.sends()).some(({ step_id }) => step_id === stepId))
    return { kind: 'goes_on', next, decision: 'sent_before' };
  if (person.email === null) return skip(walk, step, NO_ADDRESS);
  const other = await reader.sentByOther(stepId, person.email);
  if (other !== null) {
    const detail = { other_run_id: other.runId, about_send_id: other.sendId };
    return { kind: 'goes_on', next, decision: 'sent_by_other_run', detail };
  }
  const obstacle = await findObstacle(walk, step);
  if (obstacle !== null) return obstacle;
  if (mayBeBrowserTriggered(walk)) {
    const { sent, max } = await reader.ofRecipient(person.email);
    if (sent >= max) return skip(walk, step, OVER_RECIPIENT_CAP);
  }
  const mailed = await reader.mailedUnconfirmed(person.email);
  if (mailed !== null && isMost(mailed)) return skip(walk, step, UNCONFIRMED_ADDRESS);
  const limits = limitsOf(walk, mailed !== null);
  const { sendId, status } = await effects.send({ stepId, step, to: person.email, limits });
  const detail = { send_id: sendId };
  return { kind: 'goes_on', next, decision: `send_${status}`, detail };
};
