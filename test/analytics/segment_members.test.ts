import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { oneSegment } from './one_segment.ts';

const database = testDatabase();

test('the members of the project’s segments are shown, and since when', async () => {
  const { analyst, segmentId, profileId } = await oneSegment(database);
  const { rows } = await analyst.query('select * from segment_members');
  expect(rows).toEqual([
    { segment_id: segmentId, segment: 'a', profile_id: profileId, entered_at: expect.any(Date) },
  ]);
});
