import { Button, Code, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import type { DomainHealth as Health } from '../api.ts';
import { domainHealth } from '../queries.ts';
import { Copy } from './copy.tsx';
import { fieldOf } from './form.ts';
import { Loading } from './paged.tsx';
import { Refused } from './refused.tsx';
import { Status } from './status.tsx';
import { When } from './when.tsx';

type Finding = Health['spf'];

const words = {
  good: { word: 'Good', color: 'green' },
  warning: { word: 'Could be better', color: 'yellow' },
  bad: { word: 'To be mended', color: 'red' },
  unknown: { word: 'Not known', color: 'gray' },
} as const;

const Record = ({ publish }: { publish: NonNullable<Finding['publish']> }) => (
  <Stack gap={4}>
    <Text size="sm" fw={600}>
      Publish this {publish.type} record
    </Text>
    {(['name', 'value'] as const).map((part) => (
      <Group key={part} wrap="nowrap" gap="xs" align="flex-start">
        <Code block className="snippet" flex={1}>
          {publish[part]}
        </Code>
        <Copy value={publish[part]} what={`the ${part} of the record`} />
      </Group>
    ))}
  </Stack>
);

const Found = ({ title, finding }: { title: string; finding: Finding }) => (
  <Paper withBorder p="md">
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={3} size="h5">
          {title}
        </Title>
        <Status {...words[finding.status]} />
      </Group>
      <Text size="sm">{finding.summary}</Text>
      {finding.found.map((record) => (
        <Code key={record} block className="snippet">
          {record}
        </Code>
      ))}
      {finding.publish && <Record publish={finding.publish} />}
    </Stack>
  </Paper>
);

const Findings = ({ health }: { health: Health }) => (
  <Stack gap="sm">
    <Group gap="xs">
      <Status {...words[health.status]} />
      <Text size="sm" c="dimmed">
        {health.domain}, looked at
      </Text>
      <When at={health.checked_at} />
    </Group>
    <Found title="SPF" finding={health.spf} />
    {health.dkim.map(({ selector, ...finding }) => (
      <Found key={selector} title={`DKIM ${selector}`} finding={finding} />
    ))}
    <Found title="DMARC" finding={health.dmarc} />
    <Found title="Alignment" finding={health.alignment} />
    <Found title="Replies" finding={health.replies} />
  </Stack>
);

type Props = { projectId: string; providerId: string };

/** What receivers find out about the sender's domain, and the records to publish. Looks on request. */
export const DomainHealth = ({ projectId, providerId }: Props) => {
  const [asked, setAsked] = useState<string | null>(null);
  const health = useQuery({
    ...domainHealth(projectId, providerId, asked ?? ''),
    enabled: asked !== null,
  });
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const selectors = fieldOf(event.currentTarget, 'selectors').replaceAll(/\s/g, '');
    if (selectors === asked) void health.refetch();
    else setAsked(selectors);
  };
  return (
    <Stack>
      <form onSubmit={submit}>
        <Group align="flex-end" gap="sm">
          <TextInput
            name="selectors"
            label="DKIM selectors (optional)"
            description="As the provider issued them. Empty: the usual ones are tried."
            placeholder="s1, s2"
            flex={1}
            miw={200}
          />
          <Button type="submit" variant="default" loading={health.isFetching}>
            Look at the domain
          </Button>
        </Group>
      </form>
      {asked !== null && health.isPending && <Loading />}
      <Refused error={health.error} />
      {health.data && <Findings health={health.data} />}
    </Stack>
  );
};
