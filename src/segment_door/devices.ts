import { Call, CALLS } from './schema.ts';
import type { CallType } from './schema.ts';
import { deviceOf } from './translate.ts';

const Named = Call.pick({ type: true, anonymousId: true, previousId: true });

/** The device that a call will be taken for, as text; none where the call is refused for how it names one. */
export const devicesOf = (given: unknown, type: CallType | null): string[] => {
  const { success, data } = Named.safeParse(given);
  if (!success) return [];
  const isOf = type ?? CALLS.find((one) => one === data.type);
  const device = isOf && deviceOf(isOf, data);
  return device === undefined ? [] : [device];
};
