import { Group, Stack, Table, Text } from '@mantine/core';
import type { AuditEntry } from '../people_queries.ts';
import { auditWords } from './audit_words.ts';
import { When } from './when.tsx';

/** Whoever did it, by the name they have today. */
const whoOf = ({ actor_kind, actor_email, actor_key }: AuditEntry): string => {
  if (actor_kind === 'person') return actor_email ?? 'somebody who is gone';
  if (actor_kind === 'key') return actor_key === null ? 'a key' : `key …${actor_key}`;
  return actor_kind === 'operator' ? 'an operator' : 'the service itself';
};

const Targets = ({ targets }: Pick<AuditEntry, 'targets'>) => (
  <>
    {Object.entries(targets).map(([name, id]) => (
      <Text key={name} size="xs" c="dimmed" className="breaks">
        {name} {id}
      </Text>
    ))}
  </>
);

/** What was done, in words, and by which name the log knows it. */
export const Done = ({ name }: { name: string }) => {
  const words = auditWords(name);
  return (
    <div>
      <Text size="sm" fw={600} className="breaks">
        {words}
      </Text>
      {words !== name && (
        <Text size="xs" c="dimmed" className="breaks">
          {name}
        </Text>
      )}
    </div>
  );
};

const Row = ({ entry }: { entry: AuditEntry }) => (
  <Table.Tr>
    <Table.Td>
      <Done name={entry.action} />
      <Targets targets={entry.targets} />
      {entry.request_id !== null && (
        <Text size="xs" c="dimmed" className="breaks">
          request {entry.request_id}
        </Text>
      )}
      <Stack hiddenFrom="sm" mt={6} gap={2}>
        <Text size="sm" className="breaks">
          {whoOf(entry)}
        </Text>
        <Group>
          <When at={entry.at} />
        </Group>
      </Stack>
    </Table.Td>
    <Table.Td visibleFrom="sm">
      <Text size="sm" className="breaks">
        {whoOf(entry)}
      </Text>
    </Table.Td>
    <Table.Td visibleFrom="sm">
      <When at={entry.at} />
    </Table.Td>
  </Table.Tr>
);

/** What was changed, the newest first. */
export const AuditList = ({ items }: { items: AuditEntry[] }) => (
  <Table verticalSpacing="sm" withTableBorder>
    <Table.Thead>
      <Table.Tr>
        <Table.Th>What</Table.Th>
        <Table.Th visibleFrom="sm">Who</Table.Th>
        <Table.Th visibleFrom="sm">When</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {items.map((entry) => (
        <Row key={entry.id} entry={entry} />
      ))}
    </Table.Tbody>
  </Table>
);
