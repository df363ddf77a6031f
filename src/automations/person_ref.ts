import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import * as profiles from '../profiles/profiles.ts';

const EXTERNAL = 'external_id:';

const said = { error: `must be the id of a profile (a UUID), or ${EXTERNAL}<your id>` };

/** How a person is named: by the profile's id, or by your own. */
export const PersonRef = z
  .union([z.uuid(said), z.templateLiteral([EXTERNAL, z.string()])], said)
  .meta({
    description: `The profile's id, or \`${EXTERNAL}<your id>\`.`,
    examples: ['external_id:ann'],
  });

/** The profile of whom a reference names, or null. */
export const findPersonId = async (scope: Scope, ref: string): Promise<string | null> => {
  const selector = ref.startsWith(EXTERNAL)
    ? ({ by: 'external', value: ref.slice(EXTERNAL.length) } as const)
    : ({ by: 'id', value: ref } as const);
  const [profile] = await profiles.listProfiles(scope, selector);
  return profile?.id ?? null;
};
