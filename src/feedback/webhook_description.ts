import { dialectOf, SOURCES } from './dialects/dialects.ts';
import type { Source } from './dialects/dialects.ts';
import { ENGAGEMENTS_MAX } from './engagement.ts';
import { UNDATED_MINUTES } from './keep.ts';

/** What the reference says of every webhook that vendors post feedback to. */
export const GENERIC_DESCRIPTION =
  'One event, an array of them, or `{ "events": [...] }`. The 200 is sent once the events and ' +
  'their effects are stored: hard bounces and complaints suppress the address. An event that ' +
  'cannot be read does not affect the others. When none can be read, the answer is 400. ' +
  'Repeating a request changes nothing.';

const PROOFS = {
  token: 'the webhook token',
  required: 'the vendor’s signature',
  optional: 'the webhook token; once its key is set, only the signature',
  topic:
    'the signature and a confirmed topic of Amazon SNS; for Amazon EventBridge, the webhook token',
};

const proofOf = (source: Source): string => {
  const { verification } = dialectOf(source);
  if (verification.kind !== 'signature') return PROOFS[verification.kind];
  return PROOFS[verification.isRequired ? 'required' : 'optional'];
};

const slugsOf = (source: Source): string =>
  [source, ...(dialectOf(source).aliases ?? [])].map((slug) => `\`${slug}\``).join(' or ');

/** Returns one line for each way to verify a vendor, with the slugs of its vendors. */
const listProofs = (): string[] => {
  const vendors = SOURCES.filter((source) => source !== 'smtp');
  const groups = Map.groupBy(vendors, proofOf);
  return [...groups].map(([proof, of]) => `- ${of.map(slugsOf).join(', ')}: ${proof}.`);
};

/** What the reference says of the vendors, from their dialects. */
export const VENDORS_DESCRIPTION = [
  'This is the body for `smtp`. Every other slug takes what its vendor posts, verified by:',
  listProofs().join('\n'),
  'A vendor that signs needs no token; one that is sent has to be right. A signature that comes ' +
    'again with another body is 406.',
  'Events about emails of other projects here are stored as `ignored`. Vendors may report any ' +
    'other email of your account, except Amazon SES. The generic `smtp` webhook may report any ' +
    'address: keep its token secret.',
  `An event without id and time is the same event for ${UNDATED_MINUTES} minutes. Of one email ` +
    `${ENGAGEMENTS_MAX} opens and ${ENGAGEMENTS_MAX} clicks a day reach the timeline. An event ` +
    'resolves a send whose outcome is unknown only when it names the send or its message id.',
  'A topic of Amazon SNS with the webhook token in its URL (`?token=svc_hook_live_…`) is ' +
    'confirmed at once. Any other is answered 401, and waits for an owner, who approves it in ' +
    'Settings, Webhooks. Notifications of topics that are not confirmed are 403.',
].join('\n\n');
