import type { ZodOpenApiObject } from 'zod-openapi';
import { subscribedWebhooks } from '../automations/routes.ts';

const WHEN =
  'Posted to the endpoints of a project that subscribe to it, signed by the Standard Webhooks scheme. Answer 2xx.';

/** Describes what the service posts to endpoints that subscribe. */
export const webhooks: NonNullable<ZodOpenApiObject['webhooks']> = Object.fromEntries(
  subscribedWebhooks.map(({ name, summary, body }) => [
    name,
    {
      post: {
        operationId: `webhook_${name}`,
        tags: ['Automations'],
        summary,
        description: WHEN,
        security: [],
        requestBody: { required: true, content: { 'application/json': { schema: body } } },
        responses: { '2XX': { description: 'It was taken, and is not posted again.' } },
      },
    },
  ]),
);
