import { Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** What to do where there is nothing yet. */
export const Empty = ({ title, children }: { title: string; children: ReactNode }) => (
  <Paper withBorder p="xl">
    <Stack gap="xs" align="flex-start">
      <Title order={3} size="h4">
        {title}
      </Title>
      <Text component="div" c="dimmed" w="100%">
        {children}
      </Text>
    </Stack>
  </Paper>
);
