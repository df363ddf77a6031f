import { Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = {
  title: string;
  children: ReactNode;
  /** Whether it is all that there is, and says what the page is. */
  isPage?: boolean;
};

/** What to do where there is nothing yet. */
export const Empty = ({ title, children, isPage = false }: Props) => (
  <Paper withBorder p="xl">
    {isPage && <title>{`${title} · Trunkline`}</title>}
    <Stack gap="xs" align="flex-start">
      <Title order={isPage ? 1 : 3} size="h4">
        {title}
      </Title>
      <Text component="div" c="dimmed" w="100%">
        {children}
      </Text>
    </Stack>
  </Paper>
);
