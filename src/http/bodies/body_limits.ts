import {
  ADDRESS_BYTES_MAX,
  BODIES_BYTES_MAX,
  JSON_VALUES_MAX,
  STRANGERS_BYTES_MAX,
} from '../../base/bodies/bodies.ts';
import type { Limit } from '../../base/route.ts';
import type { Config } from '../../config.ts';

const BY_STRANGERS = 'with publishable keys, or without a key';

/** The bounds of all bodies, and of the requests that one address has in progress. */
export const bodyLimits = ({ rateLimitAddress }: Pick<Config, 'rateLimitAddress'>): Limit[] => {
  const limits: Limit[] = [
    { name: 'Values in a JSON body', value: JSON_VALUES_MAX, unit: 'items', where: 'body' },
    {
      name: 'Memory for the bodies of requests, per process',
      value: BODIES_BYTES_MAX,
      unit: 'bytes',
      where: 'all requests in progress',
    },
    {
      name: 'The same for requests with publishable keys',
      value: STRANGERS_BYTES_MAX,
      unit: 'bytes',
      where: BY_STRANGERS,
    },
    {
      name: 'The same for requests from one address',
      value: ADDRESS_BYTES_MAX,
      unit: 'bytes',
      where: BY_STRANGERS,
    },
    {
      name: 'Requests from one address in progress, per process',
      value: rateLimitAddress,
      unit: 'items',
      where: BY_STRANGERS,
    },
  ];
  return limits.filter(({ value }) => value > 0);
};
