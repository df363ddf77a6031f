import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { oneSegment } from './one_segment.ts';

const database = testDatabase();

test('the segments of the project are shown as they stand', async () => {
  const { analyst, segmentId } = await oneSegment(database);
  const { rows } = await analyst.query('select * from segments');
  expect(rows).toEqual([
    {
      segment_id: segmentId,
      segment: 'a',
      kind: 'dynamic',
      status: 'ready',
      version: 1,
      filled_at: expect.any(Date),
      created_at: expect.any(Date),
      updated_at: expect.any(Date),
    },
  ]);
});
