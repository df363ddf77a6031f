import type { Definition } from './schema.ts';
import { UNSUBSCRIBED_TAG } from './tags.ts';

/**
 * What a static segment is asked: who was imported, and neither suppressed nor unsubscribed. Kept up to date as
 * any other, so that lists follow links and undos, and free nobody.
 */
export const definitionOfStatic = (segmentId: string): Definition => ({
  version: 1,
  include_suppressed: false,
  where: {
    kind: 'all',
    of: [
      { kind: 'imported', segment_id: segmentId },
      { kind: 'not', of: { kind: 'tag', tag: UNSUBSCRIBED_TAG } },
    ],
  },
});
