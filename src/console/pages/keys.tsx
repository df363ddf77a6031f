import { Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../api.ts';
import { useChange } from '../changes.ts';
import { Failed } from '../parts/failed.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { Loading } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { PasswordAgain } from '../parts/password_again.tsx';
import { Quotas } from '../parts/quotas.tsx';
import { Refused } from '../parts/refused.tsx';
import { ShownOnce } from '../parts/shown_once.tsx';
import { When } from '../parts/when.tsx';
import { keys } from '../people_queries.ts';
import type { Key } from '../people_queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/settings/keys');
type Kind = 'publishable' | 'server';

const about: Record<Kind, { title: string; text: string }> = {
  publishable: {
    title: 'Publishable keys',
    text: 'For web pages and apps. They send events and say who somebody is, and read nothing.',
  },
  server: {
    title: 'Server keys',
    text: 'For your own servers. They read and change everything of the project: keep them secret.',
  },
};

const One = ({ projectId, item }: { projectId: string; item: Key }) => {
  const [isSure, setIsSure] = useState(false);
  const revoke = useChange(projectId, ['keys', 'audit'], () =>
    api.keys.revoke.mutate({ projectId, keyId: item.id }),
  );
  return (
    <Group justify="space-between" gap="xs">
      <Group gap="xs">
        <Code>…{item.last_four}</Code>
        <Text size="sm" c="dimmed">
          since
        </Text>
        <When at={item.created_at} />
      </Group>
      <Button
        size="xs"
        variant={isSure ? 'filled' : 'default'}
        color={isSure ? 'red' : 'gray'}
        loading={revoke.isPending}
        onClick={() => (isSure ? revoke.mutate(undefined) : setIsSure(true))}
        aria-label={`${isSure ? 'Yes, revoke' : 'Revoke'} the ${item.kind} key that ends in ${item.last_four}`}
      >
        {isSure ? 'Yes, revoke' : 'Revoke'}
      </Button>
      <Refused error={revoke.error} />
    </Group>
  );
};

const Kind = ({ projectId, kind, items }: { projectId: string; kind: Kind; items: Key[] }) => {
  const [isAsked, asked] = useDisclosure();
  const issue = useChange(projectId, ['keys', 'audit'], (password: string) =>
    api.keys.issue.mutate({ projectId, kind, password }),
  );
  const { title, text } = about[kind];
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            {title}
          </Title>
          <Button size="xs" onClick={asked.open}>
            Make a new {kind} key
          </Button>
        </Group>
        <Text size="sm" c="dimmed">
          {text} To replace one, make a new one, use it everywhere, then revoke the old one.
        </Text>
        {issue.data && (
          <ShownOnce
            title="Copy the new key now: it is shown this once"
            value={issue.data.key}
            what="the key"
          />
        )}
        {items.length === 0 && <Text size="sm">No {kind} key is live.</Text>}
        {items.map((item) => (
          <One key={item.id} projectId={projectId} item={item} />
        ))}
      </Stack>
      <PasswordAgain
        title={`Make a new ${kind} key`}
        about={text}
        label="Make the key"
        isOpen={isAsked}
        onClose={asked.close}
        change={issue}
      />
    </Paper>
  );
};

const Keys = ({ projectId }: { projectId: string }) => {
  const { data, isPending, error } = useQuery(keys(projectId));
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  const ofKind = (kind: Kind): Key[] => data.items.filter((item) => item.kind === kind);
  return (
    <>
      <Kind projectId={projectId} kind="server" items={ofKind('server')} />
      <Kind projectId={projectId} kind="publishable" items={ofKind('publishable')} />
      <Quotas projectId={projectId} items={ofKind('publishable')} />
    </>
  );
};

export const KeysPage = () => {
  const { projectId } = route.useParams();
  return (
    <Stack maw={900}>
      <PageTitle title="Keys" note="What your programs call this project's API with." />
      <ForRole projectId={projectId} role="owner" to="for a key">
        <Keys projectId={projectId} />
      </ForRole>
    </Stack>
  );
};
