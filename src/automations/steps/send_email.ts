import { earlier, later, quietUntil } from '../clock.ts';
import type { StepOf } from '../step_schema.ts';
import type { Take, Taken, Walk } from '../world.ts';

/** Until when the person is left alone, by the clock on their wall. Transactional mail comes at any time. */
const findQuiet = ({ run, now, zone }: Walk): Date | null => {
  const { quiet_hours: hours, category } = run.definition.settings;
  return hours === null || category === 'transactional' ? null : quietUntil(now, hours, zone);
};

/** When the person may be sent the next mail, where they have had as many as they may. */
const findCapped = async ({ run, now, zone, reader }: Walk): Promise<Date | null> => {
  const { frequency_cap: cap, category } = run.definition.settings;
  if (cap === null || category === 'transactional') return null;
  const sent = await reader.sentSince(earlier(now, cap.per, zone), cap.of);
  const oldest = sent.at(-cap.sends);
  return oldest === undefined ? null : later(oldest, cap.per, zone);
};

/** Past a cap that says so, the mail is not sent at all. */
const skipped = async (walk: Walk, step: StepOf<'send_email'>): Promise<Taken> => {
  await walk.effects.skip(walk.stepId, 'frequency_cap');
  return { kind: 'goes_on', next: step.next, decision: 'frequency_cap_skipped' };
};

/** What keeps the mail from being planned now, if anything does. */
const findObstacle = async (walk: Walk, step: StepOf<'send_email'>): Promise<Taken | null> => {
  const quiet = findQuiet(walk);
  if (quiet !== null) {
    const detail = { until: quiet.toISOString() };
    return { kind: 'waits', until: quiet, decision: 'quiet_hours', detail };
  }
  const capped = await findCapped(walk);
  if (capped === null) return null;
  if (walk.run.definition.settings.frequency_cap?.over === 'skip') return skipped(walk, step);
  const detail = { until: capped.toISOString() };
  return { kind: 'waits', until: capped, decision: 'frequency_cap', detail };
};

/** Hands the one mail of this step to delivery; in quiet hours, or past the cap, later or not at all. */
export const sendEmail: Take<'send_email'> = async (walk, step) => {
  const { run, now, person, reader, effects } = walk;
  const { next } = step;
  if (run.until !== null && now < run.until) return { kind: 'waits', until: run.until };
  // Who comes here again has waited before: only then is there anything to ask.
  if (run.entries > 0 && (await reader.sends()).some(({ step_id }) => step_id === walk.stepId))
    return { kind: 'goes_on', next, decision: 'sent_before' };
  if (person.email === null) {
    await effects.skip(walk.stepId, 'no_address');
    return { kind: 'goes_on', next, decision: 'no_address' };
  }
  const obstacle = await findObstacle(walk, step);
  if (obstacle !== null) return obstacle;
  const { sendId, status } = await effects.send({ stepId: walk.stepId, step, to: person.email });
  const detail = { send_id: sendId };
  return { kind: 'goes_on', next, decision: `send_${status}`, detail };
};
