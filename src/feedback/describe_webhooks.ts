import type { Scope } from '../base/db.ts';
import { adapters, SOURCES } from './adapters.ts';
import type { Source } from './adapters.ts';
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

const describe = async (scope: Scope, source: Source) => {
  const { proof } = adapters[source];
  const keySetAt = proof === 'signing_key' ? await findKeySetAt(scope, source) : null;
  return {
    slug: source,
    path: `/v1/webhooks/${source}/${scope.projectId}`,
    verified_by: proof,
    signing_key_set_at: keySetAt?.toISOString() ?? null,
    ...(proof === 'topic' ? await describeTopics(scope) : NO_TOPICS),
    refused: await describeRefused(scope, source),
    last_notices: (await listArrived(scope, source, LAST_NOTICES_MAX)).map(toNotice),
  };
};

/** The webhooks of a project: where to post, how each is verified, and what it told last. */
export const describeWebhooks = async (scope: Scope) => {
  const items: Awaited<ReturnType<typeof describe>>[] = [];
  for (const source of SOURCES) items.push(await describe(scope, source));
  return { soft_bounces_max: await readSoftBouncesMax(scope), items };
};
