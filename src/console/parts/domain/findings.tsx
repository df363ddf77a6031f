import { Code, Group, List, Paper, Stack, Text, Title } from '@mantine/core';
import type { DomainHealth } from '../../api.ts';
import { Copyable } from '../copy.tsx';
import { Status } from '../status.tsx';

export type Finding = DomainHealth['spf'];
type DnsRecord = NonNullable<Finding['publish']>;

/** How a finding stands, in a word. */
export const statusWords = {
  good: { word: 'Good', color: 'green' },
  warning: { word: 'Can be better', color: 'yellow' },
  bad: { word: 'Needs a fix', color: 'red' },
  unknown: { word: 'Unknown', color: 'gray' },
} as const;

const Record = ({ record }: { record: DnsRecord }) => (
  <Stack gap={4}>
    <Text size="sm" fw={600}>
      Publish this {record.type} record
    </Text>
    {(['name', 'value'] as const).map((part) => (
      <Stack key={part} gap={2}>
        <Text size="sm" c="dimmed" tt="capitalize">
          {part}
        </Text>
        <Copyable value={record[part]} what={`the ${part} of the record`} />
      </Stack>
    ))}
  </Stack>
);

/** The records that were found, one below the other. */
export const FoundRecords = ({ records }: { records: readonly string[] }) =>
  records.map((record, at) => (
    <Code key={`${at} ${record}`} block className="snippet">
      {record}
    </Code>
  ));

/** What one check found about one thing, and what to publish. */
export const FindingCard = ({ title, finding }: { title: string; finding: Finding }) => {
  const records = [...(finding.publish ? [finding.publish] : []), ...finding.publish_also];
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Stack gap="xs">
        <Group justify="space-between">
          <Title order={3} size="h5" className="breaks">
            {title}
          </Title>
          <Status {...statusWords[finding.status]} />
        </Group>
        <Text size="sm" className="breaks">
          {finding.summary}
        </Text>
        <FoundRecords records={finding.found} />
        {finding.advice.length > 0 && (
          <List size="sm" className="breaks">
            {finding.advice.map((sentence) => (
              <List.Item key={sentence}>{sentence}</List.Item>
            ))}
          </List>
        )}
        {records.map((record) => (
          <Record key={`${record.type} ${record.name}`} record={record} />
        ))}
      </Stack>
    </Paper>
  );
};

/** Everything that a check found. */
export const FindingList = ({ health }: { health: DomainHealth }) => (
  <Stack gap="sm">
    <FindingCard title="SPF" finding={health.spf} />
    {health.dkim.map((key) => (
      <FindingCard key={key.selector} title={`DKIM ${key.selector}`} finding={key} />
    ))}
    <FindingCard title="DMARC" finding={health.dmarc} />
    <FindingCard title="Alignment" finding={health.alignment} />
    <FindingCard title="Reverse-path (MAIL FROM)" finding={health.mail_from} />
    <FindingCard title="Replies" finding={health.replies} />
  </Stack>
);
