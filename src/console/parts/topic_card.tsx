import { Badge, Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Webhook } from '../api.ts';

type Topic = Pick<Webhook['topics'][number], 'arn' | 'account' | 'region'>;

/** A topic's name, and whose it is. */
export const TopicPlace = ({ topic }: { topic: Topic }) => (
  <Stack gap={2}>
    <Code className="breaks">{topic.arn}</Code>
    <Text size="sm" c="dimmed">
      AWS account {topic.account}, region {topic.region}
    </Text>
  </Stack>
);

/** A card of a list of topics. */
export const TopicCard = ({ children }: { children: ReactNode }) => (
  <Paper withBorder p="sm" component="li">
    <Stack gap="xs">{children}</Stack>
  </Paper>
);

const LIST_STYLE = { listStyle: 'none' };

/** Topics of one standing, with how many there are. */
export const TopicSection = ({
  title,
  count,
  about,
  children,
}: {
  title: string;
  count: number;
  about?: ReactNode;
  children: ReactNode;
}) => (
  <Stack gap="xs" component="section" aria-label={title}>
    <Group gap="xs">
      <Title order={3} size="h5">
        {title}
      </Title>
      <Badge variant="light">{count}</Badge>
    </Group>
    {about}
    {count > 0 && (
      <Stack gap="xs" component="ul" m={0} p={0} style={LIST_STYLE}>
        {children}
      </Stack>
    )}
  </Stack>
);
