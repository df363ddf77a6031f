import { Stack, Text } from '@mantine/core';
import type { Told } from '../link_queries.ts';
import { When } from './when.tsx';

const authorities: Record<Told['authority'], string> = {
  server: 'by a server key',
  publishable: 'by a page',
};

/** A trait's value as people write it. */
export const inText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Where a word comes from: to whom it was said, by what, and since when it holds. */
export const Origin = ({ told: { identifier, authority, set_at } }: { told: Told }) => (
  <Text size="xs" c="dimmed" component="div" className="breaks">
    told of {identifier.kind === 'anonymous' ? 'the anonymous id ' : ''}
    {identifier.value}, {authorities[authority]}, <When at={set_at} size="xs" />
  </Text>
);

/** A trait and where it comes from, or that there is none. */
export const Value = ({ told }: { told: Told | null }) =>
  told === null ? (
    <Text size="sm" c="dimmed" fs="italic">
      none
    </Text>
  ) : (
    <Stack gap={0}>
      <Text size="sm" className="breaks" fw={500}>
        {inText(told.value)}
      </Text>
      <Origin told={told} />
    </Stack>
  );
