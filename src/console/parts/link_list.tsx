import { Anchor, Group, Table, Text } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { IdentityLink } from '../link_queries.ts';
import { linkSources, linkStates } from './link_words.ts';
import { Status } from './status.tsx';
import { When } from './when.tsx';

type Props = { projectId: string; item: IdentityLink };

const Pair = ({ projectId, item }: Props) => (
  <Anchor
    size="sm"
    fw={600}
    renderRoot={(props) => (
      <Link {...props} to="/p/$projectId/links/$linkId" params={{ projectId, linkId: item.id }} />
    )}
  >
    <span className="pair">
      <span className="breaks">{item.anonymous_id}</span>
      <IconArrowRight size={14} aria-label="linked to" role="img" />
      <span className="breaks">{item.external_id}</span>
    </span>
  </Anchor>
);

const Row = ({ projectId, item }: Props) => (
  <Table.Tr>
    <Table.Td>
      <Pair projectId={projectId} item={item} />
      <Group hiddenFrom="sm" mt={6} gap="xs">
        <Status {...linkStates[item.status]} />
        <Text size="sm" c="dimmed">
          by {linkSources[item.source]}
        </Text>
        <When at={item.created_at} />
      </Group>
    </Table.Td>
    <Table.Td visibleFrom="sm">
      <Status {...linkStates[item.status]} />
    </Table.Td>
    <Table.Td visibleFrom="sm">{linkSources[item.source]}</Table.Td>
    <Table.Td visibleFrom="sm">
      <When at={item.created_at} />
    </Table.Td>
  </Table.Tr>
);

/** Identity links: which anonymous id was to be whose, what came of it, who asked and when. */
export const LinkList = ({ projectId, items }: { projectId: string; items: IdentityLink[] }) => (
  <Table verticalSpacing="sm" withTableBorder highlightOnHover>
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Anonymous id and person</Table.Th>
        <Table.Th visibleFrom="sm">State</Table.Th>
        <Table.Th visibleFrom="sm">Asked by</Table.Th>
        <Table.Th visibleFrom="sm">Since</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {items.map((item) => (
        <Row key={item.id} projectId={projectId} item={item} />
      ))}
    </Table.Tbody>
  </Table>
);
