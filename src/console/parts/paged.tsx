import { Button, Center, Skeleton, Stack, Text } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failed } from './failed.tsx';

export type Pages<Item> = { pages: { items: Item[]; next_cursor: string | null }[] };

type Props<Item> = {
  list: UseInfiniteQueryResult<Pages<Item>>;
  empty: ReactNode;
  children: (items: Item[]) => ReactNode;
};

/** A list that is read page by page: loading, failed, empty, or its items and a way to more. */
export const Paged = <Item,>({ list, empty, children }: Props<Item>) => {
  if (list.isPending) return <Loading />;
  if (list.isError) return <Failed error={list.error} reset={() => void list.refetch()} />;
  const items = list.data.pages.flatMap((page) => page.items);
  if (items.length === 0 && !list.hasNextPage) return empty;
  return (
    <Stack>
      {items.length === 0 ? (
        <Text c="dimmed" role="status">
          Nothing among the newest. There is more to look through.
        </Text>
      ) : (
        children(items)
      )}
      {list.hasNextPage && (
        <Center>
          <Button
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            Load more
          </Button>
        </Center>
      )}
    </Stack>
  );
};

export const Loading = () => (
  <Stack gap="xs" role="progressbar" aria-busy="true" aria-label="Loading">
    <Skeleton height={36} />
    <Skeleton height={36} />
    <Skeleton height={36} />
  </Stack>
);
