import type { Scope } from '../base/db.ts';
import type { Verification } from './dialects/dialect.ts';
import { dialectOf, SOURCES } from './dialects/dialects.ts';
import type { Source } from './dialects/dialects.ts';
import { listArrived } from './queries.ts';
import type { Arrived } from './queries.ts';
import { findRefused } from './refused_queries.ts';
import { findKeySetAt } from './signing_keys.ts';
import { readSoftBouncesMax } from './soft_queries.ts';
import { describeTopics, NO_TOPICS } from './topics/describe_topics.ts';

const LAST_NOTICES_MAX = 10;

/** Kinds that have an effect besides a suppression. */
const RECORDED = [
  'delivered',
  'bounced',
  'complained',
  'unsubscribed',
  'resubscribed',
  'opened',
  'clicked',
];

const outcomeOf = ({
  kind,
  suppresses,
  is_test,
  is_foreign,
}: Arrived): 'suppressed' | 'recorded' | 'ignored' | 'foreign' => {
  if (is_foreign) return 'foreign';
  if (is_test) return 'ignored';
  if (suppresses !== null) return 'suppressed';
  return RECORDED.includes(kind) ? 'recorded' : 'ignored';
};

const toNotice = (arrived: Arrived) => ({
  kind: arrived.kind,
  bounce_type: arrived.bounce_type,
  outcome: outcomeOf(arrived),
  send_id: arrived.send_id,
  occurred_at: arrived.occurred_at.toISOString(),
  received_at: arrived.received_at.toISOString(),
});

const describeRefused = async (scope: Scope, source: Source) => {
  const refused = await findRefused(scope, source);
  return (
    refused && {
      count: refused.refused_count,
      last_error: refused.last_reason,
      last_at: refused.last_refused_at.toISOString(),
    }
  );
};

/** A vendor that signs on request is verified by the token until the project sets its key. */
export const verifiedBy = (verification: Verification, keySetAt: Date | null) => {
  if (verification.kind !== 'signature') return verification.kind;
  return verification.isRequired || keySetAt !== null ? 'signing_key' : 'token';
};

/** Returns what a vendor calls the key that it signs with, and whether it needs one; null for any other vendor. */
export const describeKey = (verification: Verification) =>
  verification.kind === 'signature'
    ? { name: verification.keyName, is_required: verification.isRequired }
    : null;

/** Returns where a vendor posts about a project. */
export const pathOf = (source: Source, projectId: string): string =>
  `/v1/webhooks/${source}/${projectId}`;

/** When the project set the key of a vendor that signs; null for any other vendor. */
const readKeySetAt = (scope: Scope, source: Source): Promise<Date | null> =>
  dialectOf(source).verification.kind === 'signature'
    ? findKeySetAt(scope, source)
    : Promise.resolve(null);

const describe = async (scope: Scope, source: Source) => {
  const { name, verification } = dialectOf(source);
  const keySetAt = await readKeySetAt(scope, source);
  return {
    slug: source,
    name,
    path: pathOf(source, scope.projectId),
    verified_by: verifiedBy(verification, keySetAt),
    signing_key: describeKey(verification),
    signing_key_set_at: keySetAt?.toISOString() ?? null,
    ...(verification.kind === 'topic' ? await describeTopics(scope) : NO_TOPICS),
    refused: await describeRefused(scope, source),
    last_notices: (await listArrived(scope, source, LAST_NOTICES_MAX)).map(toNotice),
  };
};

/** Returns what to do at a vendor. */
export const describeSetUp = (source: Source) => {
  const { steps, subscribeTo, isTokenInUrl } = dialectOf(source).setUp;
  return {
    steps: [...steps],
    subscribe_to: [...subscribeTo],
    is_token_in_url: isTokenInUrl,
  };
};

/** Returns what to do at a vendor so that it posts to a project, and how its posts are verified now. */
export const describeSetUpOf = async (scope: Scope, source: Source) => ({
  path: pathOf(source, scope.projectId),
  verified_by: verifiedBy(dialectOf(source).verification, await readKeySetAt(scope, source)),
  ...describeSetUp(source),
});

/** Returns the webhooks of a project: where to post, how each is verified, and the last events. */
export const describeWebhooks = async (scope: Scope) => {
  const items: Awaited<ReturnType<typeof describe>>[] = [];
  for (const source of SOURCES) items.push(await describe(scope, source));
  return { soft_bounces_max: await readSoftBouncesMax(scope), items };
};

/** Returns the same with the set-up of each. */
export const describeWithSetUp = async (scope: Scope) => {
  const { items, ...settings } = await describeWebhooks(scope);
  return {
    ...settings,
    items: items.map((item) => ({ ...item, set_up: describeSetUp(item.slug) })),
  };
};
