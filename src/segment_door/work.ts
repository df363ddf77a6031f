import { UNITS } from '../base/work_units.ts';
import type { Work } from '../base/work_units.ts';
import { workOf as workOfIdentify } from '../profiles/profiles.ts';
import { Call, CALLS } from './schema.ts';
import type { CallType } from './schema.ts';
import { deviceOf, traitsOf } from './translate.ts';

const Named = Call.pick({
  type: true,
  userId: true,
  anonymousId: true,
  previousId: true,
  traits: true,
  context: true,
});

/** What a call costs, and the anonymous id it names. A call that cannot be read costs as much as an event. */
export const workOf = (given: unknown, type: CallType | null): Work => {
  const { success, data } = Named.safeParse(given);
  const isOf = success ? (type ?? CALLS.find((one) => one === data.type)) : undefined;
  if (!success || isOf === undefined) return { units: UNITS.event };
  const device = deviceOf(isOf, data);
  // Without a user id an identify is an event.
  if (isOf === 'identify' && data.userId !== undefined)
    return workOfIdentify({ anonymous_id: device, traits: traitsOf(data) });
  return isOf === 'alias'
    ? workOfIdentify({ anonymous_id: device })
    : { units: UNITS.event, device };
};
