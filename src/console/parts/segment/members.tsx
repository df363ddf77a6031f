import { Group, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { partOf } from '../../load.ts';
import { members, segmentDays, segmentHistory } from '../../segment_queries.ts';
import { Empty } from '../empty.tsx';
import { Loading, Paged } from '../paged.tsx';
import { PersonLink } from '../person_link.tsx';
import { When } from '../when.tsx';

const DaysChart = partOf(() => import('./days_chart.tsx'));

type Props = { projectId: string; segmentId: string };

export const Members = ({ projectId, segmentId }: Props) => {
  const list = useInfiniteQuery(members(projectId, segmentId));
  return (
    <Paged
      list={list}
      empty={
        <Empty title="Nobody is in it">
          People come in within seconds of what they do. “Why not?” says what one of them lacks.
        </Empty>
      }
    >
      {(items) => (
        <Table verticalSpacing="xs" withTableBorder>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Person</Table.Th>
              <Table.Th visibleFrom="sm">Address</Table.Th>
              <Table.Th>In it since</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.map(({ profile_id, person, entered_at }) => (
              <Table.Tr key={profile_id}>
                <Table.Td>
                  <PersonLink projectId={projectId} person={person} />
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <Text size="sm" className="breaks">
                    {person?.email ?? '–'}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <When at={entered_at} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Paged>
  );
};

const CAUSES = {
  change: 'by what they did or are',
  time: 'by the passing of time',
  fill: 'by a new definition',
  undo: 'by an undone link',
};

export const SegmentHistory = ({ projectId, segmentId }: Props) => {
  const list = useInfiniteQuery(segmentHistory(projectId, segmentId));
  const { data: days } = useQuery(segmentDays(projectId, segmentId));
  return (
    <Stack>
      {days && (
        <Suspense fallback={<Loading />}>
          <DaysChart days={days.items} isCapped={days.is_capped} />
        </Suspense>
      )}
      <Paged
        list={list}
        empty={<Empty title="Nobody came or went yet">Each who does is listed here.</Empty>}
      >
        {(items) => (
          <Table verticalSpacing="xs" withTableBorder>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Person</Table.Th>
                <Table.Th>What</Table.Th>
                <Table.Th visibleFrom="sm">Why</Table.Th>
                <Table.Th visibleFrom="sm">When</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {items.map(({ entry, person, change, cause, changed_at }) => (
                <Table.Tr key={entry}>
                  <Table.Td>
                    <PersonLink projectId={projectId} person={person} />
                  </Table.Td>
                  <Table.Td>
                    {change}
                    <Group hiddenFrom="sm">
                      <When at={changed_at} />
                    </Group>
                  </Table.Td>
                  <Table.Td visibleFrom="sm">
                    <Text size="sm" c="dimmed">
                      {CAUSES[cause]}
                    </Text>
                  </Table.Td>
                  <Table.Td visibleFrom="sm">
                    <When at={changed_at} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Paged>
    </Stack>
  );
};
