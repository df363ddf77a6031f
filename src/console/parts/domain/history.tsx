import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { DomainChange } from '../../api.ts';
import { domainHistory } from '../../queries.ts';
import { Paged } from '../paged.tsx';
import { Status } from '../status.tsx';
import { When } from '../when.tsx';
import { FoundRecords, statusWords } from './findings.tsx';

type FindingChange = DomainChange['changes'][number];

const titles: Record<string, string> = {
  spf: 'SPF',
  dmarc: 'DMARC',
  alignment: 'Alignment',
  mail_from: 'Reverse-path',
  replies: 'Replies',
};

const titleOf = (finding: string): string => titles[finding] ?? finding.replace(/^dkim:/, 'DKIM ');

const sameRecords = ({ before, after }: FindingChange): boolean =>
  JSON.stringify(before?.found ?? []) === JSON.stringify(after?.found ?? []);

const Step = ({ of }: { of: FindingChange['before'] }) =>
  of ? (
    <Status {...statusWords[of.status]} />
  ) : (
    <Text size="sm" c="dimmed">
      not checked
    </Text>
  );

const Records = ({ label, found }: { label: string; found: readonly string[] }) => (
  <Stack gap={4}>
    <Text size="sm" c="dimmed">
      {label}
    </Text>
    {found.length === 0 ? <Text size="sm">No record</Text> : <FoundRecords records={found} />}
  </Stack>
);

const Changed = ({ change, isFirst }: { change: FindingChange; isFirst: boolean }) => (
  <Stack gap="xs">
    <Group gap="xs">
      <Text size="sm" fw={600} className="breaks">
        {titleOf(change.finding)}
      </Text>
      {!isFirst && (
        <>
          <Step of={change.before} />
          <Text size="sm" c="dimmed">
            to
          </Text>
        </>
      )}
      <Step of={change.after} />
    </Group>
    <Text size="sm" className="breaks">
      {change.after?.summary ?? 'It is no longer checked.'}
    </Text>
    {change.before && !sameRecords(change) && (
      <>
        <Records label="Before" found={change.before.found} />
        <Records label="Since then" found={change.after?.found ?? []} />
      </>
    )}
  </Stack>
);

const Entry = ({ item }: { item: DomainChange }) => {
  const isFirst = item.changes.every(({ before }) => before === null);
  return (
    <Paper withBorder p="md" component="li">
      <Stack gap="sm">
        <Group gap="xs">
          <When at={item.changed_at} />
          <Text size="sm" c="dimmed" className="breaks">
            {item.domain}
          </Text>
          {isFirst && (
            <Badge variant="default" miw="max-content">
              First check
            </Badge>
          )}
          {item.is_worse && (
            <Badge color="red" variant="light" miw="max-content">
              Worse
            </Badge>
          )}
        </Group>
        {item.changes.map((change) => (
          <Changed key={change.finding} change={change} isFirst={isFirst} />
        ))}
      </Stack>
    </Paper>
  );
};

type Props = { projectId: string; providerId: string };

/** What has changed about the sender's domain from one check to the next. */
export const DomainHistory = ({ projectId, providerId }: Props) => {
  const list = useInfiniteQuery(domainHistory(projectId, providerId));
  return (
    <Stack gap="sm" component="section" aria-label="History">
      <Title order={2} size="h4">
        History
      </Title>
      <Paged
        list={list}
        empty={
          <Text size="sm" c="dimmed">
            Changes appear here. The domain is checked every day.
          </Text>
        }
      >
        {(items) => (
          <Stack gap="sm" component="ol" m={0} p={0} style={{ listStyle: 'none' }}>
            {items.map((item) => (
              <Entry key={item.id} item={item} />
            ))}
          </Stack>
        )}
      </Paged>
    </Stack>
  );
};
