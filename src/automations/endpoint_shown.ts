import { z } from 'zod';
import type { Limit } from '../base/route.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';
import { BROWSER_CALLS_PER_HOUR_MAX } from './call_limits.ts';
import { ENDPOINT_REFUSALS_MAX } from './subscriptions/delivery_limits.ts';
import { EventTypes } from './subscriptions/event_types.ts';
import { ENDPOINT_STATUSES } from './endpoint_queries.ts';
import type { EndpointRow, SecretRow } from './endpoint_queries.ts';

export const ENDPOINT_NAME_CHARS_MAX = 100;
export const ENDPOINT_URL_CHARS_MAX = 1_000;

const ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
const NOW = '2026-01-31T12:00:00.000Z';
const Timestamp = z.iso.datetime();

export const EndpointParams = z.object({
  id: z.uuid().meta({ description: "The endpoint's id." }),
});

/** What a parser of URLs drops or escapes without a word, so that another URL is called than was written. */
const UNWRITTEN = /[\p{Cc}\p{Cf}\p{Z}]/u;

/** Whether it can be called at all, as it stands: no user, which would be a secret in the clear, and no fragment. */
const isCallable = (text: string): boolean => {
  const url = /^\s*https?:\/\/[^\\]+$/i.test(text) ? URL.parse(text) : null;
  if (url === null || !['https:', 'http:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && !text.includes('#');
};

const Name = z
  .string()
  .min(1, `1 to ${ENDPOINT_NAME_CHARS_MAX} characters`)
  .max(ENDPOINT_NAME_CHARS_MAX, `1 to ${ENDPOINT_NAME_CHARS_MAX} characters`)
  .refine(isStorable, NOT_STORABLE);
const Url = z
  .string()
  .refine(
    (text) => text.length <= ENDPOINT_URL_CHARS_MAX,
    `at most ${ENDPOINT_URL_CHARS_MAX} characters`,
  )
  .refine(isStorable, NOT_STORABLE)
  .refine((text) => !UNWRITTEN.test(text), 'must not contain blanks or control characters')
  .refine(
    isCallable,
    'must be a whole https URL, such as https://example.com/hooks, without user, password and fragment',
  )
  .meta({
    examples: ['https://example.com/hooks'],
    description:
      'https; http, and private addresses, only within networks that the operator listed.',
  });

export const NewEndpoint = z
  .strictObject({ name: Name, url: Url, event_types: EventTypes.optional() })
  .meta({
    examples: [
      { name: 'CRM', url: 'https://example.com/hooks', event_types: ['email.bounced', 'system.*'] },
    ],
  });
export const EndpointPatch = z
  .strictObject({
    name: Name.optional(),
    url: Url.optional(),
    status: z.enum(ENDPOINT_STATUSES).optional(),
    event_types: EventTypes.optional(),
  })
  .meta({ examples: [{ status: 'disabled' }] });

const shown = {
  id: z.uuid(),
  name: z.string(),
  url: z.string(),
  status: z.enum(ENDPOINT_STATUSES),
  disabled_reason: z
    .string()
    .nullable()
    .meta({ description: '`gone`: it answered 410. Null when a user disabled it.' }),
  event_types: z.array(z.string()).meta({ description: 'What it subscribes to.' }),
  failing_since: Timestamp.nullable().meta({
    description:
      'Since when its deliveries fail: without an answer, or ' +
      `${ENDPOINT_REFUSALS_MAX} refused for good in a row. Null while they come through.`,
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
};
const SHOWN = {
  id: ID,
  name: 'CRM',
  url: 'https://example.com/hooks',
  status: 'active' as const,
  disabled_reason: null,
  event_types: ['email.bounced', 'system.*'],
  failing_since: null,
  created_at: NOW,
  updated_at: NOW,
};
const SECRET_SHOWN = { id: ID, created_at: NOW, expires_at: null };

export const Endpoint = z
  .strictObject({
    ...shown,
    secrets: z
      .array(
        z.strictObject({
          id: z.uuid(),
          created_at: Timestamp,
          expires_at: Timestamp.nullable().meta({ description: 'Null of the newest.' }),
        }),
      )
      .meta({
        description: 'What calls are signed with, newest first; never the secrets themselves.',
      }),
  })
  .meta({
    id: 'WebhookEndpoint',
    description: 'A service that webhook steps call, and that subscribes to events.',
    examples: [{ ...SHOWN, secrets: [SECRET_SHOWN] }],
  });
export const ENDPOINT_SHOWN = { ...SHOWN, secrets: [SECRET_SHOWN] };

export const ListedEndpoint = z
  .strictObject(shown)
  .meta({ id: 'WebhookEndpointListed', examples: [SHOWN] });

export const EndpointSecret = z
  .strictObject({
    endpoint: z.strictObject(shown),
    secret_id: z.uuid(),
    secret: z.string().meta({ description: 'Shown now and never again.' }),
  })
  .meta({
    id: 'WebhookEndpointSecret',
    examples: [
      {
        endpoint: SHOWN,
        secret_id: ID,
        secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
      },
    ],
  });

export const EndpointDeleted = z
  .strictObject({ id: z.uuid(), deleted: z.literal(true) })
  .meta({ id: 'WebhookEndpointDeleted', examples: [{ id: ID, deleted: true }] });

/** Returns an input as the columns are named. */
export const toColumns = <Input extends { event_types?: readonly string[] | undefined }>({
  event_types: eventTypes,
  ...others
}: Input) => ({ ...others, eventTypes });

/** Since when an endpoint takes nothing: it fails, or refused several deliveries in a row. */
const failingSince = ({ failing_since, refused_count, refused_since }: EndpointRow) =>
  failing_since ?? (refused_count >= ENDPOINT_REFUSALS_MAX ? refused_since : null);

export const toListedEndpoint = (row: EndpointRow) => ({
  id: row.endpoint_id,
  name: row.name,
  url: row.url,
  status: row.status,
  disabled_reason: row.disabled_reason,
  event_types: row.event_types,
  failing_since: failingSince(row)?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const toEndpoint = (row: EndpointRow, secrets: readonly SecretRow[]) => ({
  ...toListedEndpoint(row),
  secrets: secrets.map(({ secret_id, created_at, expires_at }) => ({
    id: secret_id,
    created_at: created_at.toISOString(),
    expires_at: expires_at?.toISOString() ?? null,
  })),
});

export const endpointLimits: readonly Limit[] = [
  {
    name: 'Name of a webhook endpoint',
    value: ENDPOINT_NAME_CHARS_MAX,
    unit: 'characters',
    where: '`POST /v1/webhook-endpoints`',
  },
  {
    name: 'URL of a webhook endpoint',
    value: ENDPOINT_URL_CHARS_MAX,
    unit: 'characters',
    where: '`POST /v1/webhook-endpoints`',
  },
  {
    name: 'Webhook calls of browser-triggered runs to one endpoint',
    value: BROWSER_CALLS_PER_HOUR_MAX,
    unit: 'an hour',
    where: 'steps of kind `webhook`',
  },
];
