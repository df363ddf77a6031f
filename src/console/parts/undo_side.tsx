import { Badge, Group, Paper, Stack, Table, Text, Title } from '@mantine/core';
import type { Side } from '../link_queries.ts';
import { Value } from './told.tsx';

type Change = Side['traits'][number];

/** One below the other on narrow screens, each with what it is. */
const Narrow = ({ change }: { change: Change }) => (
  <Stack gap={4} py="xs">
    <Text size="sm" fw={600} ff="monospace" className="breaks">
      {change.key}
    </Text>
    {(['before', 'after'] as const).map((name) => (
      <Group key={name} gap="xs" align="baseline" wrap="nowrap">
        <Text size="xs" c="dimmed" w={44} style={{ flexShrink: 0 }}>
          {name}
        </Text>
        <Value told={change[name]} />
      </Group>
    ))}
  </Stack>
);

const Changes = ({ changes, label }: { changes: Change[]; label: string }) => (
  <>
    <Table visibleFrom="sm" aria-label={label} layout="fixed" verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Trait</Table.Th>
          <Table.Th>Before</Table.Th>
          <Table.Th>After</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {changes.map((change) => (
          <Table.Tr key={change.key}>
            <Table.Th scope="row" ff="monospace" className="breaks">
              {change.key}
            </Table.Th>
            <Table.Td>
              <Value told={change.before} />
            </Table.Td>
            <Table.Td>
              <Value told={change.after} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
    <Stack hiddenFrom="sm" gap={0}>
      {changes.map((change) => (
        <Narrow key={change.key} change={change} />
      ))}
    </Stack>
  </>
);

type Props = { title: string; about: string; side: Side };

/** What one of both people is after the undo: identifiers, address, and the traits that change. */
export const UndoSide = ({ title, about, side }: Props) => (
  <Paper withBorder p="md" component="section" aria-label={title}>
    <Stack gap="sm">
      <div>
        <Title order={3} size="h5" className="breaks">
          {title}
        </Title>
        <Text size="sm" c="dimmed">
          {about}
        </Text>
      </div>
      <Group gap={6}>
        {side.identifiers.map(({ kind, value }) => (
          <Badge key={`${kind}/${value}`} variant="default" maw="100%" title={value}>
            {kind === 'anonymous' ? 'anonymous ' : ''}
            {value}
          </Badge>
        ))}
      </Group>
      <Text size="sm" className="breaks">
        Mail to: {side.email.before ?? 'no address'}
        {side.email.before !== side.email.after && ` → ${side.email.after ?? 'no address'}`}
      </Text>
      {side.traits.length === 0 ? (
        <Text size="sm">No trait changes.</Text>
      ) : (
        <Changes changes={side.traits} label={`Traits that change: ${title}`} />
      )}
      {side.unchanged > 0 && (
        <Text size="sm" c="dimmed">
          {side.unchanged.toLocaleString()} {side.unchanged === 1 ? 'trait stays' : 'traits stay'}{' '}
          as {side.unchanged === 1 ? 'it is' : 'they are'}.
        </Text>
      )}
    </Stack>
  </Paper>
);
