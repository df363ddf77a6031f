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
  token: 'the webhook token of the project',
  signature: 'the vendor’s signature, with the key of the project',
  topic:
    'the signature of Amazon SNS and a confirmed topic, or the webhook token for events of Amazon EventBridge',
};

const proofOf = (source: Source): string => {
  const { verification } = dialectOf(source);
  if (verification.kind !== 'signature' || verification.isRequired)
    return PROOFS[verification.kind];
  return `${PROOFS.signature}; until it is set, ${PROOFS.token}`;
};

const lineOf = (source: Source): string => {
  const { name, aliases = [] } = dialectOf(source);
  const slugs = [source, ...aliases].map((slug) => `\`${slug}\``).join(' or ');
  return `- ${slugs}: ${name}. Verified by ${proofOf(source)}.`;
};

/** What the reference says of the vendors, from their dialects. */
export const VENDORS_DESCRIPTION = [
  'This is the body for `smtp`. Every other slug takes what its vendor posts:',
  SOURCES.filter((source) => source !== 'smtp')
    .map(lineOf)
    .join('\n'),
  'A vendor that signs needs no token; one that is sent has to be right. A signature that comes ' +
    'again with another body is 406. `GET /v1/projects/{project_id}/webhooks` says for each vendor' +
    ' what to set up and which events to select.',
  'An event has an effect when it is about an email of this project, and when its recipient is ' +
    'the one of the email. Events about emails of other projects here are stored as `ignored`. ' +
    'Vendors may report any other email of your account, except Amazon SES. The generic `smtp` ' +
    'webhook may report any address: keep its token secret.',
  `An event without id and time is the same event for ${UNDATED_MINUTES} minutes: a redelivery within that time ` +
    'counts once, and a later event counts again.',
  `Of one email ${ENGAGEMENTS_MAX} opens and ${ENGAGEMENTS_MAX} clicks a day reach the ` +
    'timeline; further ones are stored.',
  'An event resolves a send whose outcome is unknown only when it names the send or its message ' +
    'id. An address and a time prove nothing about such a send.',
  'A topic of Amazon SNS that subscribes with the webhook token in its URL ' +
    '(`?token=svc_hook_live_…`) is confirmed at once. Any other topic is answered 401 and waits ' +
    'for an owner, who approves it in Settings, Webhooks. Notifications of topics that are not ' +
    'confirmed are 403.',
].join('\n\n');
