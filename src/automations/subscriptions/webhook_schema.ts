import { z } from 'zod';
import { Alert, ALERT_SHOWN, ALERT_WEBHOOK_TYPES } from '../../alerts/alerts.ts';
import { EMAIL_TYPES, TEST_TYPE } from './event_types.ts';

const ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
const NOW = '2026-01-31T12:00:00.000Z';

const shared = {
  id: z.string().meta({ description: 'The `webhook-id`: do what you do once for an id.' }),
  timestamp: z.iso.datetime().meta({ description: 'When it happened.' }),
};

const EmailWebhook = z
  .strictObject({
    ...shared,
    type: z.enum(EMAIL_TYPES),
    data: z.strictObject({
      person: z.strictObject({
        external_id: z.string().nullable(),
        anonymous_id: z.string().nullable(),
      }),
      email: z.strictObject({
        to: z.string().nullable(),
        send_id: z.string().nullable(),
        automation_id: z.string().nullable(),
        step_id: z.string().nullable(),
        template_id: z.string().nullable(),
        provider_id: z.string().nullable(),
      }),
      bounce_type: z.string().nullable().meta({ description: '`hard` or `soft`, of a bounce.' }),
      reported_by: z
        .string()
        .nullable()
        .meta({ description: 'Which webhook or call reported it.' }),
    }),
  })
  .meta({
    id: 'EmailWebhook',
    examples: [
      {
        id: ID,
        type: 'email.bounced',
        timestamp: NOW,
        data: {
          person: { external_id: 'u_42', anonymous_id: null },
          email: {
            to: 'ann@example.com',
            send_id: ID,
            automation_id: ID,
            step_id: 'welcome',
            template_id: ID,
            provider_id: ID,
          },
          bounce_type: 'hard',
          reported_by: 'amazon-ses',
        },
      },
    ],
  });

const AlertWebhook = z
  .strictObject({
    ...shared,
    type: z.enum(ALERT_WEBHOOK_TYPES),
    data: z.strictObject({ alert: Alert }),
  })
  .meta({
    id: 'AlertWebhook',
    examples: [
      {
        id: `${ID}_open`,
        type: 'system.provider_parked',
        timestamp: NOW,
        data: { alert: ALERT_SHOWN },
      },
    ],
  });

const TestWebhook = z
  .strictObject({
    ...shared,
    type: z.literal(TEST_TYPE),
    data: z.strictObject({ message: z.string() }),
  })
  .meta({
    id: 'TestWebhook',
    examples: [{ id: ID, type: TEST_TYPE, timestamp: NOW, data: { message: 'A test event.' } }],
  });

/** What endpoints that subscribe are posted, for the documents. */
export const subscribedWebhooks = [
  {
    name: 'email',
    summary: 'Something happened to an email: `email.*`.',
    body: EmailWebhook,
  },
  {
    name: 'system',
    summary: 'An alert opened or was resolved: `system.*`, with `data.alert.status`.',
    body: AlertWebhook,
  },
  { name: 'test', summary: 'A test event, which a user or a key asked for.', body: TestWebhook },
] as const;
