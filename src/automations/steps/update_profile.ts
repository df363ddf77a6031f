import { readEmail } from '../../base/email_address.ts';
import { valueOf } from '../comparison.ts';
import type { StepOf } from '../step_schema.ts';
import type { EventView, Take, Traits } from '../world.ts';

/** What the event says, where it says it: no address that is none. */
const toldBy = (event: EventView | null, step: StepOf<'update_profile'>): Traits => {
  if (event === null) return {};
  const told = Object.entries(step.traits_from_event).flatMap(([trait, property]) => {
    const value = valueOf(event.properties, property);
    const kept = trait === 'email' ? readEmail(value) : (value as string | undefined);
    return kept === undefined || kept === null ? [] : [[trait, kept] as const];
  });
  return Object.fromEntries(told);
};

const isEmpty = (traits: Traits): boolean => Object.keys(traits).length === 0;

/**
 * Tells the profile what the trigger event says, as of when that occurred and with no more authority than who
 * sent it; and what the step itself says, as of now, as a server would.
 */
export const updateProfile: Take<'update_profile'> = async ({ now, reader, effects }, step) => {
  const isTold = !isEmpty(step.traits_from_event);
  const event = isTold ? await reader.triggerEvent() : null;
  const told = toldBy(event, step);
  if (event !== null && !isEmpty(told)) {
    const authority = event.source === 'browser' ? 'publishable' : 'server';
    await effects.changeTraits({ traits: told, setAt: event.occurred_at, authority });
  }
  if (!isEmpty(step.traits))
    await effects.changeTraits({ traits: step.traits, setAt: now, authority: 'server' });
  const names = [...Object.keys(told), ...Object.keys(step.traits)];
  const { next } = step;
  return names.length === 0
    ? { kind: 'goes_on', next, decision: 'nothing_to_update' }
    : { kind: 'goes_on', next, decision: 'profile_updated', detail: { traits: names.join(',') } };
};
