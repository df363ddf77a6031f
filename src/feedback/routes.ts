import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { watchQueue } from '../base/memory_queues.ts';
import { ISSUES_MAX } from '../base/parse.ts';
import { Refusal, refusals } from '../base/refusal.ts';
import { webhookRoute } from '../base/route.ts';
import type { RawInbound } from '../base/route.ts';
import { inTurnsOf } from '../base/session_turns.ts';
import { dialectOf, SLUGS, sourceOf } from './dialects/dialects.ts';
import type { Source } from './dialects/dialects.ts';
import { GenericBody } from './dialects/smtp/smtp.ts';
import { receive } from './receive.ts';
import { REFUSED_WEBHOOKS_MAX, RefusedPosts } from './refused_posts.ts';
import { addRefused } from './refused_queries.ts';
import type { Vault } from './signing_keys.ts';
import type { Post } from './take.ts';
import { readHookToken } from './tokens.ts';
import { GENERIC_DESCRIPTION, VENDORS_DESCRIPTION } from './webhook_description.ts';
import { TOKENLESS_BYTES_MAX, WEBHOOK_BYTES_MAX } from './webhook_limits.ts';

export { settingLimits, settingRoutes } from './setting_routes.ts';
export { feedbackLimits } from './webhook_limits.ts';

const Count = z.int().nonnegative();
const Answer = z
  .strictObject({
    received: Count.meta({ description: 'Events in the body.' }),
    accepted: Count.meta({ description: 'Those that changed something.' }),
    duplicates: Count.meta({ description: 'Those that were taken in before.' }),
    ignored: Count.meta({ description: 'Those that are kept and change nothing.' }),
    errors: z
      .array(
        z.strictObject({
          index: Count.meta({ description: 'Its place in the body.' }),
          path: z.string().meta({ description: 'What is missing or wrong, as a JSON Pointer.' }),
          message: z.string(),
        }),
      )
      .meta({ description: `Those that cannot be read, and why: the first ${ISSUES_MAX}.` }),
  })
  .meta({
    id: 'Received',
    examples: [{ received: 1, accepted: 1, duplicates: 0, ignored: 0, errors: [] }],
  });

const ProjectId = z.uuid().meta({ description: "The project's id." });
const SlugName = z.enum(SLUGS).meta({ description: 'Whose dialect the body is in.' });

/** What this room needs of rooms that it does not ask: its door hands it in. */
export type Doors = {
  findCaller: (
    deps: Deps,
    token: string,
    origin: { address: string },
  ) => Promise<{ projectId: string; kind: string } | null>;
  /** With an address: unknown projects count under it, as unknown keys do. */
  isProject: (deps: Deps, projectId: string, address?: string) => Promise<boolean>;
  vault: Vault;
};

/** The same whatever was sent instead: nobody learns whether that is a key of anybody's. */
const HOOK_TOKEN =
  'Send the webhook token of this project, which begins with "svc_hook_live_": as "Authorization: Bearer <token>", ' +
  'as the password of Basic, as "X-Webhook-Token", or as ?token=. No other key is taken here.';

const isId = (text: string): boolean => z.uuid().safeParse(text).success;

/**
 * The project that a post is for. Its token comes before everything else: 401 when it is wrong, 404 for another's
 * project. Who proves itself by a signature needs none, but one that is given has to be right.
 */
const findProjectId = async (
  { findCaller, isProject }: Doors,
  inbound: RawInbound,
  source: Source,
): Promise<string> => {
  const projectId = inbound.params['project_id'] ?? '';
  const token = readHookToken(inbound);
  if (token === null && dialectOf(source).verification.kind !== 'token') {
    const { deps, address, countAs } = inbound;
    if (!isId(projectId)) throw new Refusal('not_found');
    countAs({ projectId, isProven: false });
    if (!(await isProject(deps, projectId, address))) throw new Refusal('not_found');
    return projectId;
  }
  const caller = token === null ? null : await findCaller(inbound.deps, token, inbound);
  if (caller?.kind !== 'hook') throw new Refusal('invalid_token', { detail: HOOK_TOKEN });
  inbound.countAs({ projectId: caller.projectId, isProven: true });
  if (caller.projectId !== projectId) throw new Refusal('not_found');
  return projectId;
};

const makeRefusedPosts = ({ deps, isProject }: Pick<Doors, 'isProject'> & { deps: Deps }) => {
  const posts = new RefusedPosts({
    write: async ({ projectId, source }, refused) => {
      if (!(await isProject(deps, projectId))) return false;
      await inProject(deps, projectId, (scope) => addRefused(scope, source, refused));
      return true;
    },
    onError: (error) => deps.log.warn({ err: error }, 'refused webhooks are not counted'),
  });
  const size = () => posts.webhookCount;
  watchQueue(deps, 'refused_webhooks', { size, max: REFUSED_WEBHOOKS_MAX });
  return posts;
};

/**
 * Counts a refused post, for the project to see. Posts to no project are not counted, nor are posts past a limit: a
 * flood of them must not cost statements.
 */
const noteRefused = (
  { isProject }: Doors,
  { deps, params }: RawInbound,
  { source, seen }: Pick<Post, 'source' | 'seen'>,
  error: unknown,
) => {
  const projectId = params['project_id'] ?? '';
  // A topic that waits for approval is listed as such.
  if (!(error instanceof Refusal) || !isId(projectId) || seen.isListed) return;
  if (error.reason === 'rate_limited') return;
  const { status } = refusals[error.reason];
  if (status < 400 || status >= 500 || status === 404) return;
  const refused = deps.resources.of(makeRefusedPosts, { deps, isProject });
  const { topicArn } = seen;
  refused.note({ projectId, source }, { reason: error.reason, at: new Date(), topicArn });
};

const receiveFrom =
  (doors: Doors, slugOf: (inbound: RawInbound) => string) => async (inbound: RawInbound) => {
    const source = sourceOf(slugOf(inbound));
    if (source === null) throw new Refusal('not_found');
    const seen = { topicArn: null, isListed: false };
    try {
      const projectId = await findProjectId(doors, inbound, source);
      const isTokened = readHookToken(inbound) !== null;
      const { headers, charge } = inbound;
      // Anyone may post without a token. Such posts use the part of the sessions that public traffic shares.
      const deps = isTokened ? inbound.deps : inTurnsOf(inbound.deps, 'publishable');
      const bytesMax = isTokened ? WEBHOOK_BYTES_MAX : TOKENLESS_BYTES_MAX;
      const raw = await inbound.readRaw(dialectOf(source).mediaTypes, bytesMax);
      const posted = { raw, contentType: headers['content-type'] ?? '', receivedAt: new Date() };
      const post = { deps, projectId, source, posted, headers, charge, isTokened, seen };
      return await receive(post, doors.vault);
    } catch (error) {
      noteRefused(doors, inbound, { source, seen }, error);
      throw error;
    }
  };

const described = {
  method: 'POST',
  access: 'webhook',
  body: GenericBody,
  bodyBytesMax: WEBHOOK_BYTES_MAX,
  status: 200,
  answer: Answer,
} as const;

export const feedbackRoutes = (doors: Doors) => [
  webhookRoute({
    ...described,
    path: '/v1/webhooks/:slug/:project_id',
    params: z.object({ slug: SlugName, project_id: ProjectId }),
    summary: "Take a provider's feedback in.",
    description: `${GENERIC_DESCRIPTION}\n\n${VENDORS_DESCRIPTION}`,
    refusals: [
      'invalid_signature',
      'topic_needs_approval',
      'foreign_topic',
      'webhook_replayed',
      'too_many_topics',
      'topic_not_confirmed',
    ],
    handle: receiveFrom(doors, ({ params }) => params['slug'] ?? ''),
  }),
  webhookRoute({
    ...described,
    path: '/webhooks/smtp/:project_id',
    params: z.object({ project_id: ProjectId }),
    summary: 'The same as /v1/webhooks/smtp/{project_id}.',
    description: GENERIC_DESCRIPTION,
    handle: receiveFrom(doors, () => 'smtp'),
  }),
];
