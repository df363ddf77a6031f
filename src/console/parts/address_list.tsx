import { Anchor, Group, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Suppression } from '../api.ts';
import { reasons, sourceInWords } from './reasons.ts';
import { Status } from './status.tsx';
import { When } from './when.tsx';

/** An address of a list; those who unsubscribed need no reason. */
export type Item = {
  email: string | null;
  source: string;
  since: string;
  reason?: Suppression['reason'];
};

const Address = ({ email, projectId }: { email: string | null; projectId: string }) =>
  email === null ? (
    <Text size="sm" c="dimmed">
      address erased
    </Text>
  ) : (
    <Anchor
      size="sm"
      fw={600}
      className="breaks"
      renderRoot={(props) => (
        <Link {...props} to="/p/$projectId/suppressions/$email" params={{ projectId, email }} />
      )}
    >
      {email}
    </Anchor>
  );

const Row = ({ item, projectId }: { item: Item; projectId: string }) => (
  <Table.Tr>
    <Table.Td>
      <Address email={item.email} projectId={projectId} />
      <Group hiddenFrom="sm" mt={6} gap="xs">
        {item.reason && <Status {...reasons[item.reason]} />}
        <Text size="sm" c="dimmed">
          by {sourceInWords(item.source)}
        </Text>
        <When at={item.since} />
      </Group>
    </Table.Td>
    {item.reason && (
      <Table.Td visibleFrom="sm">
        <Status {...reasons[item.reason]} />
      </Table.Td>
    )}
    <Table.Td visibleFrom="sm">{sourceInWords(item.source)}</Table.Td>
    <Table.Td visibleFrom="sm">
      <When at={item.since} />
    </Table.Td>
  </Table.Tr>
);

/** Addresses that are left alone: which, why, who said so and since when. */
export const AddressList = ({ items, projectId }: { items: Item[]; projectId: string }) => (
  <Table verticalSpacing="sm" withTableBorder highlightOnHover>
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Address</Table.Th>
        {items.some(({ reason }) => reason) && <Table.Th visibleFrom="sm">Reason</Table.Th>}
        <Table.Th visibleFrom="sm">Told by</Table.Th>
        <Table.Th visibleFrom="sm">Since</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {items.map((item) => (
        <Row key={`${item.email}/${item.since}`} item={item} projectId={projectId} />
      ))}
    </Table.Tbody>
  </Table>
);
