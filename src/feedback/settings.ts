import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { describeWebhooks } from './describe_webhooks.ts';
import { setSigningKey } from './signing_keys.ts';
import type { Vault } from './signing_keys.ts';
import { writeSoftBouncesMax } from './soft_queries.ts';
import { resetTopic } from './topics.ts';

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

/** Sets the key that Mailgun signs with. */
export const keepSigningKey = (where: Where, vault: Vault, key: string) =>
  change(where, (scope) => setSigningKey(scope, vault, { source: 'mailgun', key }));

/** Lets the next topic that asks be the one whose notices count. */
export const letAnotherTopic = (where: Where) => change(where, resetTopic);
