import { Stack, Text, Title } from '@mantine/core';

type Props = { title: string; note?: string };

/** What a page is called, in the page and on its tab. */
export const PageTitle = ({ title, note }: Props) => (
  <Stack gap={4}>
    <title>{`${title} · Trunkline`}</title>
    <Title order={1} size="h2" className="breaks">
      {title}
    </Title>
    {note !== undefined && (
      <Text c="dimmed" className="breaks">
        {note}
      </Text>
    )}
  </Stack>
);
