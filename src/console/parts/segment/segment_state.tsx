import { Group, Loader, Text } from '@mantine/core';
import type { Segment } from '../../segment_queries.ts';
import { Status } from '../status.tsx';

type Known = Pick<Segment, 'status' | 'kind' | 'progress'>;

const progressOf = ({ status, progress }: Known): string => {
  if (progress === null) return '';
  if (status === 'counting' && progress.counted_until !== null)
    return `events until ${new Date(progress.counted_until).toLocaleDateString()} are counted`;
  return `${progress.examined.toLocaleString()} people looked at so far`;
};

/** Whether a segment's members are all known, and if not, how far that has come. */
export const SegmentState = ({ segment }: { segment: Known }) => {
  if (segment.status === 'ready')
    return (
      <Status
        word={segment.kind === 'static' ? 'From lists' : 'Kept up to date'}
        color={segment.kind === 'static' ? 'gray' : 'teal'}
      />
    );
  return (
    <Group gap={6} role="status">
      <Loader size="xs" aria-hidden />
      <Text size="sm" c="dimmed">
        {segment.status === 'counting' ? 'Counting the past' : 'Looking at everybody'}:{' '}
        {progressOf(segment)}
      </Text>
    </Group>
  );
};
