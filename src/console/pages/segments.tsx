import { Anchor, Button, Group, Stack, Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Empty } from '../parts/empty.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Paged } from '../parts/paged.tsx';
import { SegmentState } from '../parts/segment/segment_state.tsx';
import { segments } from '../segment_queries.ts';
import type { Segment } from '../segment_queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/segments');

const New = ({ projectId }: { projectId: string }) => (
  <Button
    renderRoot={(props) => (
      <Link {...props} to="/p/$projectId/segments/new" params={{ projectId }} />
    )}
  >
    New segment
  </Button>
);

const Row = ({ one, projectId }: { one: Segment; projectId: string }) => (
  <Table.Tr>
    <Table.Td>
      <Anchor
        fw={600}
        className="breaks"
        renderRoot={(props) => (
          <Link
            {...props}
            to="/p/$projectId/segments/$segmentId"
            params={{ projectId, segmentId: one.id }}
          />
        )}
      >
        {one.name}
      </Anchor>
      <Group hiddenFrom="sm" mt={6}>
        <SegmentState segment={one} />
      </Group>
    </Table.Td>
    <Table.Td ta="right" className="number">
      {one.members.toLocaleString()}
    </Table.Td>
    <Table.Td visibleFrom="sm">
      <SegmentState segment={one} />
    </Table.Td>
  </Table.Tr>
);

export const SegmentsPage = () => {
  const { projectId } = route.useParams();
  const list = useInfiniteQuery(segments(projectId));
  const isEmpty = list.data?.pages[0]?.items.length === 0;
  const empty = (
    <Empty title="No segment yet">
      <Stack align="flex-start">
        A segment is people who are alike: by what they did, by what is known of them, or by a list.
        It keeps itself up to date.
        <ForRole projectId={projectId} role="editor" to="to make a segment">
          <New projectId={projectId} />
        </ForRole>
      </Stack>
    </Empty>
  );
  return (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <PageTitle title="Segments" note="People who are alike." />
        {!isEmpty && (
          <ForRole projectId={projectId} role="editor" to="to make a segment">
            <New projectId={projectId} />
          </ForRole>
        )}
      </Group>
      <Paged list={list} empty={empty}>
        {(items) => (
          <Table verticalSpacing="sm" withTableBorder highlightOnHover>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Segment</Table.Th>
                <Table.Th ta="right">People</Table.Th>
                <Table.Th visibleFrom="sm">State</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {items.map((one) => (
                <Row key={one.id} one={one} projectId={projectId} />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Paged>
    </Stack>
  );
};
