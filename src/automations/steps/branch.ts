import { hold } from '../comparison.ts';
import type { Condition } from '../step_schema.ts';
import type { Take, Walk } from '../world.ts';

/** What may be asked of a person: traits, with address and tags beside them. */
const toValues = ({ email, traits, tags }: Walk['person']) => ({ ...traits, email, tags });

const isTrue = async ({ person, reader, now }: Walk, condition: Condition): Promise<boolean> => {
  switch (condition.on) {
    case 'profile':
      return hold(condition.filters, toValues(person));
    case 'person':
      return reader.holds(condition.where);
    case 'trigger': {
      const event = await reader.triggerEvent();
      return event !== null && hold(condition.filters, event.properties);
    }
    case 'event':
      return (await reader.firstEvent(condition, now)) !== null;
    case 'send':
      return (await reader.sends()).some(
        ({ step_id, facts }) => step_id === condition.step && facts.includes(condition.became),
      );
  }
};

const areTrue = async (walk: Walk, conditions: readonly Condition[]): Promise<boolean> => {
  for (const condition of conditions) if (!(await isTrue(walk, condition))) return false;
  return true;
};

/** Goes the first way whose conditions all hold. */
export const branch: Take<'branch'> = async (walk, { branches, otherwise }) => {
  for (const [at, { when, next }] of branches.entries()) {
    if (await areTrue(walk, when))
      return { kind: 'goes_on', next, decision: 'branched', detail: { branch: String(at + 1) } };
  }
  return {
    kind: 'goes_on',
    next: otherwise,
    decision: 'branched',
    detail: { branch: 'otherwise' },
  };
};
