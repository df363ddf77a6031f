import { readEmail } from '../../base/email_address.ts';
import { valueOf } from '../value_of.ts';
import type { StepOf } from '../step_schema.ts';
import type { Change, EventView, Take, Traits } from '../world.ts';

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

/** What a step tells: what the event says first, then what it says itself. */
const wordsOf = async (
  { now, reader }: Parameters<Take<'update_profile'>>[0],
  step: StepOf<'update_profile'>,
): Promise<readonly Change[]> => {
  const event = isEmpty(step.traits_from_event) ? null : await reader.triggerEvent();
  const told = toldBy(event, step);
  const authority = event?.source === 'browser' ? 'publishable' : 'server';
  return [
    ...(event === null
      ? []
      : [
          {
            traits: told,
            setAt: event.occurred_at,
            authority,
            anonymousId: event.anonymous_id,
          } as const,
        ]),
    { traits: step.traits, setAt: now, authority: 'server' } as const,
  ].filter(({ traits }) => !isEmpty(traits));
};

/**
 * Tells the profile what the trigger event says, as of when that occurred and with no more authority than who
 * sent it; and what the step itself says, as of now, as a server would. Who has as many traits as one may goes
 * on all the same.
 */
export const updateProfile: Take<'update_profile'> = async (walk, step) => {
  const words = await wordsOf(walk, step);
  const { next } = step;
  if (words.length === 0) return { kind: 'goes_on', next, decision: 'nothing_to_update' };
  let isKept = true;
  for (const word of words) isKept = (await walk.effects.changeTraits(word)) && isKept;
  const names = words.flatMap(({ traits }) => Object.keys(traits)).join(',');
  const decision = isKept ? 'profile_updated' : 'too_many_traits';
  return { kind: 'goes_on', next, decision, detail: { traits: names } };
};
