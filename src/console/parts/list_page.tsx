import { Button, Group, Stack } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Empty } from './empty.tsx';
import { PageTitle } from './page_title.tsx';
import { Paged } from './paged.tsx';
import type { Pages } from './paged.tsx';

type Props<Item> = {
  title: string;
  note: string;
  /** What is to be said of the list as it is asked for here. */
  about?: ReactNode;
  list: UseInfiniteQueryResult<Pages<Item>>;
  /** How to make one more, above a list that has some. */
  action: ReactNode;
  /** Which of them are listed. */
  filter?: ReactNode;
  empty: ReactNode;
  children: (items: Item[]) => ReactNode;
};

/** A page with all of something, page by page, and the way to one more of it. */
export const ListPage = <Item,>({
  title,
  note,
  about,
  list,
  action,
  filter,
  empty,
  children,
}: Props<Item>) => {
  const hasNone = list.data?.pages[0]?.items.length === 0;
  return (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <PageTitle title={title} note={note} />
        <Group>
          {filter}
          {!hasNone && action}
        </Group>
      </Group>
      {about}
      <Paged list={list} empty={empty}>
        {children}
      </Paged>
    </Stack>
  );
};

type NoneProps = { title: string; action: ReactNode; children: ReactNode };

/** In the place of a list that has nothing yet: what it is for, and how to make the first. */
export const None = ({ title, action, children }: NoneProps) => (
  <Empty title={title}>
    <Stack align="flex-start">
      {children}
      {action}
    </Stack>
  </Empty>
);

type NewProps = {
  projectId: string;
  to:
    | '/p/$projectId/automations/new'
    | '/p/$projectId/templates/new'
    | '/p/$projectId/segments/new'
    | '/p/$projectId/settings/providers/new';
  label: string;
};

/** The way to a page where one more is made. */
export const NewButton = ({ projectId, to, label }: NewProps) => (
  <Button renderRoot={(props) => <Link {...props} to={to} params={{ projectId }} />}>
    {label}
  </Button>
);
