import type { Scope } from '../base/db.ts';
import * as profiles from '../profiles/profiles.ts';

/** Notes people who came on the list of a static segment, or off it. */
export const noteListed = async (
  scope: Scope,
  segmentId: string,
  { ids, source = null }: { ids: readonly string[]; source?: 'server' | null },
): Promise<void> => {
  const listed = [...new Set(ids)];
  const aspects = [profiles.aspectOf('list', segmentId)];
  await profiles.noteChanges(scope, listed, { source, aspects: listed.map(() => aspects) });
};
