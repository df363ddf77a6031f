import { z } from 'zod';
import type { Addressed } from '../base/route.ts';
import { KINDS } from './notice.ts';
import { REFUSED_WRITTEN_EVERY_MS } from './refused_posts.ts';
import { SET_UP_SHOWN, WEBHOOKS_SHOWN } from './shown.ts';
import { TOPIC_CHANGES } from './topics/topic_queries.ts';

const Timestamp = z.iso.datetime();

const LastNotice = z.strictObject({
  kind: z.enum(KINDS),
  bounce_type: z.string().nullable(),
  outcome: z.enum(['suppressed', 'recorded', 'ignored', 'foreign']).meta({
    description:
      'Whether the address was suppressed, the notice had another effect, or none. `foreign`: none, because the ' +
      'message is not one that this project handed to that service.',
  }),
  send_id: z.uuid().nullable().meta({ description: 'The send that it was found to be about.' }),
  occurred_at: Timestamp,
  received_at: Timestamp,
});

const aboutTopic = {
  arn: z.string(),
  account: z.string().meta({ description: 'The AWS account of the topic.' }),
  region: z.string(),
};

const Topic = z.strictObject({
  id: z.uuid(),
  ...aboutTopic,
  confirmed_by: z.enum(['token', 'approval']).meta({
    description: 'The webhook token in the subscription URL, or the approval of an owner.',
  }),
  confirmed_at: Timestamp,
  unsubscribed_at: Timestamp.nullable().meta({
    description: 'Since when the topic sends nothing any more. Subscribe it again at Amazon SNS.',
  }),
});

const PendingTopic = z.strictObject({
  id: z.uuid(),
  ...aboutTopic,
  first_asked_at: Timestamp,
  last_asked_at: Timestamp,
  expires_at: Timestamp.meta({
    description: 'Until when it can be approved. After that, create the subscription again.',
  }),
});

const RefusedTopic = z.strictObject({
  ...aboutTopic,
  count: z.int().positive(),
  last_error: z.string(),
  last_at: Timestamp,
});

const TopicChange = z.strictObject({
  arn: z.string(),
  change: z.enum(TOPIC_CHANGES),
  changed_at: Timestamp,
});

const Refused = z
  .strictObject({
    count: z.int().positive(),
    last_error: z.string().meta({ description: 'The `error` that the last of them was answered.' }),
    last_at: Timestamp,
  })
  .meta({
    description:
      'Posts that were refused: a wrong token or signature, another topic, or nothing that could be read. Counted ' +
      `within ${REFUSED_WRITTEN_EVERY_MS / 1_000} seconds.`,
  });

const path = z.string().meta({ description: 'Where to post, on the host of this API.' });

const verifiedBy = z.enum(['token', 'signing_key', 'topic']).meta({
  description:
    'The webhook token, the signing key of the vendor, or the signature and topic of Amazon.',
});

/** What to do at one vendor. */
export const WebhookSetUp = z
  .strictObject({
    path,
    verified_by: verifiedBy,
    steps: z.array(z.string()),
    subscribe_to: z
      .array(z.string())
      .meta({ description: 'The events to select, as the vendor calls them.' }),
    is_token_in_url: z.boolean().meta({
      description: 'Whether the URL has to end in `?token=` and the webhook token.',
    }),
  })
  .meta({ id: 'WebhookSetUp', examples: [SET_UP_SHOWN] });

const Webhook = z
  .strictObject({
    slug: z.string(),
    name: z.string().meta({ description: 'The vendor.' }),
    path,
    verified_by: verifiedBy,
    signing_key: z
      .strictObject({
        name: z.string().meta({ description: 'What the vendor calls the key.' }),
        is_required: z.boolean().meta({
          description: 'Whether posts without a signature are refused before a key is set.',
        }),
      })
      .nullable()
      .meta({ description: 'The key of a vendor that signs its posts.' }),
    signing_key_set_at: Timestamp.nullable(),
    topics: z.array(Topic).meta({ description: 'The topics whose notifications count.' }),
    pending_topics: z.array(PendingTopic).meta({
      description: 'Topics without the webhook token, which wait for the approval of an owner.',
    }),
    refused_topics: z.array(RefusedTopic).meta({
      description: 'Topics whose signed posts were refused, the last refused first.',
    }),
    topic_changes: z.array(TopicChange).meta({ description: 'The newest first.' }),
    refused: Refused.nullable(),
    last_notices: z.array(LastNotice).meta({ description: 'The newest first.' }),
  })
  .meta({
    id: 'Webhook',
    description: 'Where one kind of provider reports to, and what came of it.',
  });

const Webhooks = z
  .strictObject({
    soft_bounces_max: z
      .int()
      .meta({ description: 'After so many soft bounces in a row an address is suppressed.' }),
    items: z.array(Webhook),
  })
  .meta({
    id: 'Webhooks',
    examples: [WEBHOOKS_SHOWN],
  });

const params = z.object({ project_id: z.uuid().meta({ description: "The project's id." }) });

/** The project of another key gets the same answer as a project that does not exist. */
const find = ({ params: { project_id }, caller }: Addressed) =>
  Promise.resolve(project_id === caller.projectId ? true : null);

/** What all routes of a project's webhooks have in common. */
export const shared = {
  access: 'server',
  params,
  find,
  status: 200,
  answer: Webhooks,
} as const;
