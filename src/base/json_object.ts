import { z } from 'zod';

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * An object, member by member as it is. What it may hold is checked elsewhere. A zod record would copy it and leave a
 * member called `__proto__` behind.
 */
export const jsonObject = <Value extends z.core.util.JSONType>() =>
  z.custom<Record<string, Value>>(isObject, 'must be an object');
