import { z } from 'zod';

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * An object out of a jsonb column, member by member as it was stored. What it may hold is checked
 * where it came in; a zod record would copy it and leave a member called `__proto__` behind.
 */
export const jsonObject = <Value extends z.core.util.JSONType>() =>
  z.custom<Record<string, Value>>(isObject, 'must be an object');
