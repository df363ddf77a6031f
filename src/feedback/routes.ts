import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import { webhookRoute } from '../base/route.ts';
import type { RawInbound } from '../base/route.ts';
import { adapters, isSlug } from './adapters.ts';
import { record } from './feedback.ts';

const WEBHOOK_BYTES_MAX = 1024 * 1024;

const Answer = z.strictObject({
  received: z.int(),
  accepted: z.int(),
  duplicates: z.int(),
  ignored: z.int(),
  errors: z.array(z.strictObject({ index: z.int(), message: z.string() })),
});

type FindCaller = (
  deps: Deps,
  token: string,
) => Promise<{ projectId: string; kind: string } | null>;

/** Verifies before anything is read: wrong token 401, unknown slug or another's project 404. */
const verify = async (
  findCaller: FindCaller,
  inbound: RawInbound,
  slug: string,
): Promise<string> => {
  const projectId = inbound.params['project_id'] ?? '';
  if (!isSlug(slug)) throw new Refusal('not_found');
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
    const projectId = await verify(findCaller, inbound, slug);
    if (!isSlug(slug)) throw new Refusal('not_found');
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
  bodyBytesMax: WEBHOOK_BYTES_MAX,
  status: 200,
  answer: Answer,
} as const;

/** `findCaller` is the projects room's: this room does not ask it, its door does. */
export const feedbackRoutes = (findCaller: FindCaller) => [
  webhookRoute({
    ...described,
    path: '/v1/webhooks/:slug/:project_id',
    summary: "Take a provider's feedback in.",
    handle: receive(findCaller, ({ params }) => params['slug'] ?? ''),
  }),
  webhookRoute({
    ...described,
    path: '/webhooks/smtp/:project_id',
    summary: 'The same as /v1/webhooks/smtp/{project_id}.',
    handle: receive(findCaller, () => 'smtp'),
  }),
];
