import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Addressed, Limit } from '../base/route.ts';
import { route } from '../base/route.ts';
import { describeSetUpOf, describeWebhooks } from './describe_webhooks.ts';
import { SIGNED_SOURCES, SOURCES } from './dialects/dialects.ts';
import type { Source } from './dialects/dialects.ts';
import type { Vault } from './signing_keys.ts';
import { decideSoftBounces, keepSigningKey, removeSigningKey } from './settings.ts';
import { DECIDED_SHOWN, KEY_SET_SHOWN, WEBHOOKS_SHOWN } from './shown.ts';
import { topicLimits, topicRoutes } from './topics/topic_routes.ts';
import { shared, WebhookSetUp } from './webhooks_answer.ts';

export const SIGNING_KEY_CHARS_MAX = 255;
export const SOFT_BOUNCES_MAX = 100;

/** What a project decides about soft bounces. */
export const SoftBounces = z.strictObject({
  soft_bounces_max: z.int().min(1).max(SOFT_BOUNCES_MAX),
});

/** The key that a vendor signs with. */
export const SigningKey = z.strictObject({
  signing_key: z
    .string()
    .min(1)
    .max(SIGNING_KEY_CHARS_MAX)
    .regex(/^[\x21-\x7e]*$/, 'visible ASCII characters without blanks'),
});

/** What routes of one webhook have in common: any other slug is 404. */
const ofSource = (sources: [Source, ...Source[]], description: string) => ({
  ...shared,
  params: shared.params.extend({
    slug: z.enum(sources).meta({ description, examples: ['mailgun'] }),
  }),
  find: async (addressed: Addressed): Promise<Source | null> => {
    if ((await shared.find(addressed)) === null) return null;
    return sources.find((source) => source === addressed.params['slug']) ?? null;
  },
});
const ofSignature = ofSource(SIGNED_SOURCES, 'The vendor that signs its webhooks.');

const projectRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/projects/:project_id/webhooks',
    summary: 'List the webhooks of the project, how each is verified, and its last events.',
    handle: ({ deps, caller }) => inProject(deps, caller.projectId, describeWebhooks),
  }),
  route({
    ...ofSource(SOURCES, 'Whose webhook it is.'),
    method: 'GET',
    path: '/v1/projects/:project_id/webhooks/:slug/setup',
    summary: 'Get the steps to set up one webhook, and the events to select.',
    answer: WebhookSetUp,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, (scope) => describeSetUpOf(scope, found)),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/projects/:project_id/webhooks/settings',
    example: DECIDED_SHOWN,
    summary: 'Decide after how many soft bounces in a row an address is suppressed.',
    description:
      'A delivery starts the count again, and so does an accepted email that did not bounce. ' +
      'A change applies to an address from its next event on.',
    body: SoftBounces.meta({ examples: [{ soft_bounces_max: 3 }] }),
    handle: ({ deps, caller: { projectId }, body }) =>
      decideSoftBounces({ deps, projectId }, body.soft_bounces_max),
  }),
];

const keyPath = '/v1/projects/:project_id/webhooks/:slug/signing-key';

/** How each provider proves that it is itself. */
const proofRoutes = (vault: Vault) => [
  route({
    ...ofSignature,
    method: 'POST',
    path: keyPath,
    example: KEY_SET_SHOWN,
    summary: 'Set the key that a vendor signs its webhooks with.',
    description:
      'Mailgun: the HTTP webhook signing key of the account. SendGrid: the verification key of the Signed Event ' +
      'Webhook. Resend: the signing secret, which begins with `whsec_`. The key is stored sealed and never returned.',
    body: SigningKey.meta({ examples: [{ signing_key: '0123456789abcdef0123456789abcdef' }] }),
    handle: ({ deps, caller: { projectId }, body, found }) =>
      keepSigningKey({ deps, projectId }, vault, { source: found, key: body.signing_key }),
  }),
  route({
    ...ofSignature,
    method: 'DELETE',
    path: keyPath,
    example: WEBHOOKS_SHOWN,
    summary: 'Remove the key that a vendor signs its webhooks with.',
    description:
      'SendGrid and Resend can then post with the webhook token. Every post of Mailgun is refused until a key is ' +
      'set. Repeating the request changes nothing.',
    handle: ({ deps, caller: { projectId }, found }) =>
      removeSigningKey({ deps, projectId }, found),
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
    name: 'Signing key of a webhook',
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
