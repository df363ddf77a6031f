import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Addressed, Limit } from '../base/route.ts';
import { route } from '../base/route.ts';
import { describeWebhooks } from './describe_webhooks.ts';
import { KINDS } from './notice.ts';
import { REFUSED_WRITTEN_EVERY_MS } from './refused_posts.ts';
import type { Vault } from './signing_keys.ts';
import { decideSoftBounces, keepSigningKey, letAnotherTopic } from './settings.ts';
import { DECIDED_SHOWN, KEY_SET_SHOWN, TOPIC_RESET_SHOWN, WEBHOOKS_SHOWN } from './shown.ts';

export const SIGNING_KEY_CHARS_MAX = 255;
export const SOFT_BOUNCES_MAX = 100;

const Timestamp = z.iso.datetime();

const LastNotice = z.strictObject({
  kind: z.enum(KINDS),
  bounce_type: z.string().nullable(),
  outcome: z.enum(['suppressed', 'recorded', 'ignored']).meta({
    description: 'Whether the address was suppressed, the notice had another effect, or none.',
  }),
  send_id: z.uuid().nullable().meta({ description: 'The send that it was found to be about.' }),
  occurred_at: Timestamp,
  received_at: Timestamp,
});

const Topic = z.strictObject({
  arn: z.string(),
  confirmed_at: Timestamp,
  unsubscribed_at: Timestamp.nullable().meta({
    description: 'Since when the topic sends nothing any more. Subscribe it again at Amazon SNS.',
  }),
});

const TopicChange = z.strictObject({
  arn: z.string(),
  change: z.enum(['confirmed', 'refused', 'unsubscribed', 'reset']),
  changed_at: Timestamp,
});

const Refused = z
  .strictObject({
    count: z.int().positive(),
    last_error: z.string().meta({ description: 'The `error` that the last of them was answered.' }),
    last_at: Timestamp,
  })
  .meta({
    description:
      'Posts that were refused: a wrong token or signature, another topic, or nothing that could be read. Counted ' +
      `within ${REFUSED_WRITTEN_EVERY_MS / 1_000} seconds.`,
  });

const Webhook = z
  .strictObject({
    slug: z.string(),
    path: z.string().meta({ description: 'Where to post, on the host of this API.' }),
    verified_by: z.enum(['token', 'signing_key', 'topic']).meta({
      description:
        "The project's webhook token; a signature by the provider's signing key; or Amazon's signature and the topic.",
    }),
    signing_key_set_at: Timestamp.nullable(),
    topic: Topic.nullable(),
    topic_changes: z.array(TopicChange).meta({ description: 'The newest first.' }),
    refused: Refused.nullable(),
    last_notices: z.array(LastNotice).meta({ description: 'The newest first.' }),
  })
  .meta({
    id: 'Webhook',
    description: 'Where one kind of provider reports to, and what came of it.',
  });

const Webhooks = z
  .strictObject({
    soft_bounces_max: z
      .int()
      .meta({ description: 'After so many soft bounces in a row an address is suppressed.' }),
    items: z.array(Webhook),
  })
  .meta({
    id: 'Webhooks',
    examples: [WEBHOOKS_SHOWN],
  });

const params = z.object({ project_id: z.uuid().meta({ description: "The project's id." }) });

/** Others' projects look like nobody's. */
const find = ({ params: { project_id }, caller }: Addressed) =>
  Promise.resolve(project_id === caller.projectId ? true : null);

const shared = {
  access: 'server',
  params,
  find,
  status: 200,
  answer: Webhooks,
} as const;

/** What a project decides about soft bounces. */
export const SoftBounces = z.strictObject({
  soft_bounces_max: z.int().min(1).max(SOFT_BOUNCES_MAX),
});

/** The key that Mailgun signs with. */
export const SigningKey = z.strictObject({
  signing_key: z
    .string()
    .min(1)
    .max(SIGNING_KEY_CHARS_MAX)
    .regex(/^[\x21-\x7e]*$/, 'visible ASCII characters without blanks'),
});

const projectRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/projects/:project_id/webhooks',
    summary: 'List the webhooks of the project, how each is verified, and what it told last.',
    handle: ({ deps, caller }) => inProject(deps, caller.projectId, describeWebhooks),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/projects/:project_id/webhooks/settings',
    example: DECIDED_SHOWN,
    summary: 'Decide after how many soft bounces in a row an address is suppressed.',
    description:
      'A delivery begins a new row, and so does a mail that was taken and did not bounce. ' +
      'Counts for an address from its next notice on, with all that is known of it.',
    body: SoftBounces.meta({ examples: [{ soft_bounces_max: 3 }] }),
    handle: ({ deps, caller: { projectId }, body }) =>
      decideSoftBounces({ deps, projectId }, body.soft_bounces_max),
  }),
];

/** How each provider proves that it is itself. */
const proofRoutes = (vault: Vault) => [
  route({
    ...shared,
    method: 'POST',
    path: '/v1/projects/:project_id/webhooks/mailgun/signing-key',
    example: KEY_SET_SHOWN,
    summary: "Set the key that Mailgun signs with: your account's HTTP webhook signing key.",
    description:
      'It is kept sealed and never answered. Posts that it does not verify are refused with 401.',
    body: SigningKey.meta({ examples: [{ signing_key: '0123456789abcdef0123456789abcdef' }] }),
    handle: ({ deps, caller: { projectId }, body }) =>
      keepSigningKey({ deps, projectId }, vault, body.signing_key),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/projects/:project_id/webhooks/amazon-ses/reset-topic',
    example: TOPIC_RESET_SHOWN,
    summary: 'Let another Amazon SNS topic be the one whose notices count.',
    description:
      'The next topic that asks is confirmed. Until then every notice is refused with 403.',
    handle: ({ deps, caller: { projectId } }) => letAnotherTopic({ deps, projectId }),
  }),
];

/** What a project decides about its webhooks, and what it sees of them. */
export const settingRoutes = (vault: Vault) => [...projectRoutes, ...proofRoutes(vault)];

export const settingLimits: readonly Limit[] = [
  {
    name: 'Signing key of Mailgun',
    value: SIGNING_KEY_CHARS_MAX,
    unit: 'characters',
    where: '`signing_key`',
  },
  {
    name: 'Soft bounces in a row',
    value: SOFT_BOUNCES_MAX,
    unit: 'items',
    where: '`soft_bounces_max`',
  },
];
