import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { oneSegment } from './one_segment.ts';

const database = testDatabase();

test('who entered which segment of the project is shown, and why', async () => {
  const { analyst, segmentId, profileId } = await oneSegment(database);
  const { rows } = await analyst.query('select * from segment_history');
  expect(rows).toEqual([
    {
      entry: '1',
      segment_id: segmentId,
      segment: 'a',
      version: 1,
      profile_id: profileId,
      change: 'entered',
      cause: 'change',
      changed_at: expect.any(Date),
    },
  ]);
});
