import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import { describeWebhooks } from './describe_webhooks.ts';
import { signatureOf } from './dialects/dialects.ts';
import type { Source } from './dialects/dialects.ts';
import { deleteSigningKey, setSigningKey } from './signing_keys.ts';
import type { Vault } from './signing_keys.ts';
import { writeSoftBouncesMax } from './soft_queries.ts';
import { approveTopic, rejectTopic, rejectTopics, removeTopic } from './topics/approve.ts';
import { listTopics } from './topics/topic_queries.ts';

type Where = { deps: Deps; projectId: string };

/** Changes what a project decides about its webhooks; answers how they stand then. */
const change = ({ deps, projectId }: Where, work: (scope: Scope) => Promise<unknown>) =>
  inProject(deps, projectId, async (scope) => {
    await work(scope);
    return describeWebhooks(scope);
  });

/** Decides after how many soft bounces in a row an address is suppressed. */
export const decideSoftBounces = (where: Where, softBouncesMax: number) =>
  change(where, (scope) => writeSoftBouncesMax(scope, softBouncesMax));

/** Sets the key that a vendor signs with. Throws `invalid_request` for a key that the vendor does not have. */
export const keepSigningKey = (
  where: Where,
  vault: Vault,
  { source, key }: { source: Source; key: string },
) => {
  const fault = signatureOf(source)?.findKeyFault(key) ?? null;
  if (fault !== null)
    throw new Refusal('invalid_request', { issues: [{ path: '/signing_key', message: fault }] });
  return change(where, (scope) => setSigningKey(scope, vault, { source, key }));
};

/** Removes the key that a vendor signs with. */
export const removeSigningKey = (where: Where, source: Source) =>
  change(where, (scope) => deleteSigningKey(scope, source));

/** Returns the topic with this id, in any status; null when the project has none. */
export const findTopic = async ({ deps, projectId }: Where, topicId: string) => {
  const topics = await inProject(deps, projectId, listTopics);
  return topics.find(({ topic_id }) => topic_id === topicId) ?? null;
};

/** Confirms a topic that waits for approval. */
export const approve = async (where: Where, topicId: string) => {
  await approveTopic(where, topicId);
  return change(where, () => Promise.resolve());
};

/** Rejects a topic that waits for approval. */
export const reject = (where: Where, topicId: string) =>
  change(where, (scope) => rejectTopic(scope, topicId));

/** Rejects several topics that wait for approval. */
export const rejectSeveral = (where: Where, topicIds: readonly string[]) =>
  change(where, (scope) => rejectTopics(scope, topicIds));

/** Removes a confirmed topic. */
export const remove = (where: Where, topicId: string) =>
  change(where, (scope) => removeTopic(scope, topicId));
