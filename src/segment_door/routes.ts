import { z } from 'zod';
import { route } from '../base/route.ts';
import type { Limit, Route } from '../base/route.ts';
import type { OnLinked } from '../profiles/profiles.ts';
import {
  BATCH_CALLS_MAX,
  BatchBody,
  CallBody,
  CallName,
  DoneAnswer,
  findCall,
  NAME_CHARS_MAX,
} from './schema.ts';
import { takeBatch, takeCall } from './segment_door.ts';
import { workOf } from './work.ts';

const REQUEST_BYTES_MAX = 1024 * 1024;

const CallParams = z.object({
  call: CallName.meta({
    description: 'What the body says; in browsers by its first letter.',
    examples: ['track'],
  }),
});

const TRANSLATED = `\
\`event\` becomes snake_case: \`Order Completed\` is \`order_completed\`. Accents go; of another script, or past 100 \
characters, the rest is a digest; before a digit stands \`event_\`. Names that become \`email_…\`, such as \
\`Email Opened\`, are refused: the service records these events itself. \`page\` is \`page_viewed\`, \`screen\` is \
\`screen_viewed\` (\`name\` and \`category\` are properties), \`group\` is \`group_joined\` with \`group_id\` and the \
group's traits, an \`identify\` without \`userId\` is \`anonymous_identified\`.

Properties keep their names. Nested ones are \`outer_inner\`, lists are JSON as text, null is left out. Of \`context\` \
an event keeps \`page\` (\`page_url\`, \`page_path\`, …) and \`campaign\` (\`utm_source\`, …), an identify \
\`locale\`, \`timezone\` and \`traits\`. \`messageId\`, \`timestamp\` and \`sentAt\` count as \`message_id\`, \
\`occurred_at\` and \`sent_at\` do, a time without an offset by UTC. An \`alias\` links \`previousId\` to \
\`userId\`: with a server key as POST /v1/identify/alias, with a publishable one as POST /v1/identify.`;

const TOKEN = `\
The key is the user name of Basic authentication, as these libraries send their write key; or a bearer token, or \
\`writeKey\` in the body. Bodies may be packed with gzip, and are JSON whatever they are called.`;

/** The two addresses of a batch: browsers use the short one. */
const batchRoutes = (onLinked: OnLinked): Route[] =>
  ['/segment/v1/batch', '/segment/v1/b'].map((path) =>
    route({
      method: 'POST',
      path,
      access: 'publishable',
      takesWriteKey: true,
      summary: `Take up to ${BATCH_CALLS_MAX} calls of Segment's and RudderStack's libraries.`,
      description:
        `Calls that are wrong are not taken and listed in \`refused\`; the others are, since their sender cannot ` +
        `mend them. What a batch says of people counts before its events, whatever stands first. ${TOKEN}`,
      refusals: ['quota_exceeded', 'request_too_costly', 'overloaded'],
      body: BatchBody,
      bodyBytesMax: REQUEST_BYTES_MAX,
      workOf: ({ batch }) => batch.map((call) => workOf(call, null)),
      status: 200,
      answer: DoneAnswer,
      handle: ({ body, ...inbound }) => takeBatch({ ...inbound, onLinked }, body),
    }),
  );

/** What a link means to others is handed in. */
export const segmentRoutes = (onLinked: OnLinked): Route[] => [
  ...batchRoutes(onLinked),
  route({
    method: 'POST',
    path: '/segment/v1/:call',
    access: 'publishable',
    takesWriteKey: true,
    summary: "Take one call of Segment's and RudderStack's libraries.",
    description: `${TRANSLATED}\n\n${TOKEN}`,
    refusals: [
      'occurred_at_out_of_range',
      'identity_conflict',
      'being_erased',
      'too_many_traits',
      'quota_exceeded',
      'overloaded',
    ],
    params: CallParams,
    find: ({ params }) => Promise.resolve(findCall(params['call'] ?? '')),
    body: CallBody,
    bodyBytesMax: REQUEST_BYTES_MAX,
    workOf: (call, type) => [workOf(call, type)],
    status: 200,
    answer: DoneAnswer,
    handle: ({ body, found, ...inbound }) => takeCall({ ...inbound, onLinked }, found, body),
  }),
];

export const segmentLimits: readonly Limit[] = [
  {
    name: 'Calls in a batch of another library',
    value: BATCH_CALLS_MAX,
    unit: 'items',
    where: '`batch`',
  },
  {
    name: 'Name of an event, page or category of another library',
    value: NAME_CHARS_MAX,
    unit: 'characters',
    where: '`event`, `name`, `category`',
  },
  {
    name: 'Body of calls of another library',
    value: REQUEST_BYTES_MAX,
    unit: 'bytes',
    where: 'body, also once it is unpacked',
  },
];
