import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import { webhookRoute } from '../base/route.ts';
import type { Limit, RawInbound } from '../base/route.ts';
import { adapters, isSlug } from './adapters.ts';
import type { Slug } from './adapters.ts';
import { record } from './feedback.ts';
import { EVENT_ID_CHARS_MAX, GenericBody, NAME_CHARS_MAX, NOTICES_MAX } from './generic.ts';

const WEBHOOK_BYTES_MAX = 1024 * 1024;

const Count = z.int().nonnegative();
const Answer = z
  .strictObject({
    received: Count.meta({ description: 'Events in the body.' }),
    accepted: Count.meta({ description: 'Those that changed something.' }),
    duplicates: Count.meta({ description: 'Those that were taken in before.' }),
    ignored: Count.meta({ description: 'Those that are kept and change nothing.' }),
    errors: z
      .array(z.strictObject({ index: Count, message: z.string() }))
      .meta({ description: 'Those that cannot be read, by their place in the body.' }),
  })
  .meta({
    id: 'Received',
    examples: [{ received: 1, accepted: 1, duplicates: 0, ignored: 0, errors: [] }],
  });

const ProjectId = z.uuid().meta({ description: "The project's id." });
const SLUGS = Object.keys(adapters) as [Slug, ...Slug[]];
const SlugName = z.enum(SLUGS).meta({ description: 'Whose dialect the body is in.' });

type FindCaller = (
  deps: Deps,
  token: string,
) => Promise<{ projectId: string; kind: string } | null>;

/** Verifies before anything is read: wrong token 401, another's project 404. */
const verify = async (findCaller: FindCaller, inbound: RawInbound, slug: Slug): Promise<string> => {
  const projectId = inbound.params['project_id'] ?? '';
  const token = adapters[slug].readToken(inbound);
  const caller = token === null ? null : await findCaller(inbound.deps, token);
  if (caller?.kind !== 'hook') throw new Refusal('invalid_token');
  if (caller.projectId !== projectId) throw new Refusal('not_found');
  return projectId;
};

const receive =
  (findCaller: FindCaller, slugOf: (inbound: RawInbound) => string) =>
  async (inbound: RawInbound) => {
    const slug = slugOf(inbound);
    if (!isSlug(slug)) throw new Refusal('not_found');
    const projectId = await verify(findCaller, inbound, slug);
    const { notices, errors } = adapters[slug].read(await inbound.readRaw(), new Date());
    if (notices.length === 0) {
      const issues = errors.map(({ path, message }) => ({ path, message }));
      throw new Refusal('invalid_request', { issues });
    }
    // Stored with its effect before the answer: nothing waits in memory behind a 200.
    const recorded = await inProject(inbound.deps, projectId, (scope) =>
      record(scope, slug, notices),
    );
    return {
      received: notices.length + errors.length,
      ...recorded,
      errors: errors.map(({ index, message }) => ({ index, message })),
    };
  };

const described = {
  method: 'POST',
  access: 'webhook',
  body: GenericBody,
  bodyBytesMax: WEBHOOK_BYTES_MAX,
  description:
    'One event, an array of them, or `{ "events": [...] }`. The 200 is sent once the events and their effects are ' +
    'stored: hard bounces and complaints suppress the address. One that cannot be read does not hold up its ' +
    'neighbours; when none can be read, the answer is 400. Repeating a request changes nothing.',
  status: 200,
  answer: Answer,
} as const;

/** `findCaller` is the projects room's: this room does not ask it, its door does. */
export const feedbackRoutes = (findCaller: FindCaller) => [
  webhookRoute({
    ...described,
    path: '/v1/webhooks/:slug/:project_id',
    params: z.object({ slug: SlugName, project_id: ProjectId }),
    summary: "Take a provider's feedback in.",
    handle: receive(findCaller, ({ params }) => params['slug'] ?? ''),
  }),
  webhookRoute({
    ...described,
    path: '/webhooks/smtp/:project_id',
    params: z.object({ project_id: ProjectId }),
    summary: 'The same as /v1/webhooks/smtp/{project_id}.',
    handle: receive(findCaller, () => 'smtp'),
  }),
];

export const feedbackLimits: readonly Limit[] = [
  { name: 'Events in a webhook', value: NOTICES_MAX, unit: 'items', where: 'body' },
  {
    name: 'Id of an event in a webhook',
    value: EVENT_ID_CHARS_MAX,
    unit: 'characters',
    where: '`event_id`, `id`, `uuid`',
  },
  {
    name: 'Any name or address in a webhook',
    value: NAME_CHARS_MAX,
    unit: 'characters',
    where: 'event',
  },
  { name: 'Body of a webhook', value: WEBHOOK_BYTES_MAX, unit: 'bytes', where: 'body' },
];
