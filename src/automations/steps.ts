import type { Step } from './step_schema.ts';
import { branch } from './steps/branch.ts';
import { delay } from './steps/delay.ts';
import { delayUntil } from './steps/delay_until.ts';
import { exit } from './steps/exit.ts';
import { sendEmail } from './steps/send_email.ts';
import { split } from './steps/split.ts';
import { updateProfile } from './steps/update_profile.ts';
import { waitForEvent } from './steps/wait_for_event.ts';
import { webhook } from './steps/webhook.ts';
import type { Take, Taken, Walk } from './world.ts';

type StepKinds = { [Kind in Step['kind']]: Take<Kind> };

/** What each kind of step does. A step is a function of the run, the person, the clock and what it may ask and do. */
const kinds: StepKinds = {
  send_email: sendEmail,
  delay,
  delay_until: delayUntil,
  wait_for_event: waitForEvent,
  branch,
  split,
  update_profile: updateProfile,
  webhook,
  exit,
};

export const takeStep = async (walk: Walk, step: Step): Promise<Taken> => {
  const take = kinds[step.kind] as (walk: Walk, step: Step) => Promise<Taken> | Taken;
  return take(walk, step);
};
