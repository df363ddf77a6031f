import { Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Suppression } from '../api.ts';
import { Empty } from '../parts/empty.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Paged } from '../parts/paged.tsx';
import { Status } from '../parts/status.tsx';
import { inWords } from '../parts/statuses.ts';
import { When } from '../parts/when.tsx';
import { suppressions } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/suppressions');

const reasons: Record<Suppression['reason'], { word: string; color: string }> = {
  hard_bounce: { word: 'Hard bounce', color: 'red' },
  complaint: { word: 'Marked as spam', color: 'red' },
  provider_suppressed: { word: "On the provider's list", color: 'red' },
  soft_bounces: { word: 'Soft bounces in a row', color: 'orange' },
  manual: { word: 'By hand', color: 'gray' },
};

const Row = ({ email, reason, source, created_at }: Suppression) => (
  <Table.Tr>
    <Table.Td>
      <Text size="sm" fw={600} className="breaks">
        {email ?? 'address erased'}
      </Text>
      <Text component="div" hiddenFrom="sm">
        <When at={created_at} />
      </Text>
    </Table.Td>
    <Table.Td>
      <Status {...reasons[reason]} />
      <Text size="sm" c="dimmed" mt={4} hiddenFrom="sm">
        from {inWords(source)}
      </Text>
    </Table.Td>
    <Table.Td visibleFrom="sm">{inWords(source)}</Table.Td>
    <Table.Td visibleFrom="sm">
      <When at={created_at} />
    </Table.Td>
  </Table.Tr>
);

const List = ({ items }: { items: Suppression[] }) => (
  <Table verticalSpacing="sm" withTableBorder>
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Address</Table.Th>
        <Table.Th>Reason</Table.Th>
        <Table.Th visibleFrom="sm">Source</Table.Th>
        <Table.Th visibleFrom="sm">Since</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {items.map((item) => (
        <Row key={`${item.email}/${item.created_at}`} {...item} />
      ))}
    </Table.Tbody>
  </Table>
);

export const SuppressionsPage = () => {
  const { projectId } = route.useParams();
  const list = useInfiniteQuery(suppressions(projectId));
  return (
    <Stack>
      <PageTitle
        title="Suppressions"
        note="Addresses that get no mail from this project, whatever happens."
      />
      <Paged
        list={list}
        empty={
          <Empty title="Nobody is suppressed">
            Hard bounces and complaints that your provider reports to this project’s webhook put
            addresses here by themselves.
          </Empty>
        }
      >
        {(items) => <List items={items} />}
      </Paged>
    </Stack>
  );
};
