import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Limit } from '../base/route.ts';
import { route } from '../base/route.ts';
import { describeWebhooks } from './describe_webhooks.ts';
import type { Vault } from './signing_keys.ts';
import { decideSoftBounces, keepSigningKey } from './settings.ts';
import { DECIDED_SHOWN, KEY_SET_SHOWN } from './shown.ts';
import { topicLimits, topicRoutes } from './topics/topic_routes.ts';
import { shared } from './webhooks_answer.ts';

export const SIGNING_KEY_CHARS_MAX = 255;
export const SOFT_BOUNCES_MAX = 100;

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
];

/** What a project decides about its webhooks, and what it sees of them. */
export const settingRoutes = (vault: Vault) => [
  ...projectRoutes,
  ...proofRoutes(vault),
  ...topicRoutes,
];

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
  ...topicLimits,
];
