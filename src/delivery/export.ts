import { z } from 'zod';
import { pagesOf } from '../base/pages.ts';
import type { ExportSection } from '../base/whole_person.ts';
import { listContents } from './erase_queries.ts';
import { listSends } from './log_queries.ts';
import type { SendRow } from './log_queries.ts';
import { Send, toSend } from './send_log.ts';

/** Few at a time: what was rendered may be large. */
const EXPORT_SENDS_MAX = 10;

const ExportedSend = Send.extend({
  content: z
    .strictObject({ subject: z.string(), html: z.string(), text: z.string() })
    .nullable()
    .meta({ description: 'What was rendered for the person.' }),
});

const content = { subject: 'Welcome, Ann', html: '<p>Welcome, Ann</p>', text: 'Welcome, Ann' };
const examples = ((Send.meta()?.examples ?? []) as object[]).map((send) => ({ ...send, content }));

/** Every message that was meant for a person, as it was rendered. */
export const sendSection: ExportSection = {
  name: 'sends',
  item: ExportedSend.meta({ examples }),
  about: 'Every message that was meant for the person, and what it said.',
  pages: async function* ({ profileIds, identities }, read) {
    const owners = [
      ...profileIds.map((profileId) => ({ profileId })),
      ...identities.map(({ identity_id }) => ({ identityId: identity_id })),
    ];
    for (const owner of owners) {
      const pages = pagesOf<SendRow>(EXPORT_SENDS_MAX, (last) =>
        read((scope) =>
          listSends(scope, { limit: EXPORT_SENDS_MAX, ...owner, beforeId: last?.send_id ?? null }),
        ),
      );
      for await (const page of pages) {
        // Those of a profile were given with it.
        const sends = page.filter(
          ({ profile_id }) => 'profileId' in owner || !profileIds.includes(profile_id),
        );
        const contents = await read((scope) =>
          listContents(
            scope,
            sends.map(({ send_id }) => send_id),
          ),
        );
        const contentOf = new Map(contents.map(({ send_id, ...said }) => [send_id, said]));
        yield sends.map((send) =>
          'profileId' in owner
            ? { ...toSend(send), content: contentOf.get(send.send_id) ?? null }
            : // Sent while they were linked: to whom, and what it said, is the other person's.
              { ...toSend(send), to: null, subject: null, content: null },
        );
      }
    }
  },
};
