import { Anchor, Group, Table } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { AskedAbout, useAskedAbout } from '../parts/asked_about.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { ListPage, NewButton, None } from '../parts/list_page.tsx';
import { SegmentState } from '../parts/segment/segment_state.tsx';
import type { AboutPerson } from '../roots.tsx';
import { useSegments } from '../live_segments.ts';
import type { Segment } from '../segment_queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/segments');

type RowProps = { one: Segment; projectId: string; search: AboutPerson };

const Row = ({ one, projectId, search }: RowProps) => (
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
            search={search}
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
      {one.is_capped && '+'}
    </Table.Td>
    <Table.Td visibleFrom="sm">
      <SegmentState segment={one} />
    </Table.Td>
  </Table.Tr>
);

export const SegmentsPage = () => {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const person = useAskedAbout(projectId, search.person);
  const list = useSegments(projectId);
  const add = (
    <ForRole projectId={projectId} role="editor" to="to make a segment">
      <NewButton projectId={projectId} to="/p/$projectId/segments/new" label="New segment" />
    </ForRole>
  );
  const none = (
    <None title="No segment yet" action={add}>
      A segment is people who are alike: by what they did, by what is known of them, or by a list.
      It keeps itself up to date.
    </None>
  );
  return (
    <ListPage
      title="Segments"
      note="People who are alike."
      about={
        <AskedAbout
          projectId={projectId}
          person={person}
          to="to see why they are in it, or are not"
        />
      }
      list={list}
      action={add}
      empty={none}
    >
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
              <Row key={one.id} one={one} projectId={projectId} search={search} />
            ))}
          </Table.Tbody>
        </Table>
      )}
    </ListPage>
  );
};
