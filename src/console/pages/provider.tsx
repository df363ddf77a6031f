import { Alert, Button, Group, Paper, Stack, Tabs, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { api, failureOf, isNotFound, issuesOf } from '../api.ts';
import type { Provider } from '../api.ts';
import { useChange } from '../changes.ts';
import { Back } from '../parts/back.tsx';
import { BounceMailbox } from '../parts/bounce_mailbox/bounce_mailbox.tsx';
import { DomainHealth } from '../parts/domain/domain_health.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failed } from '../parts/failed.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { fieldOf } from '../parts/form.ts';
import { Loading } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { kinds, toGiven, toTyped } from '../parts/provider_fields.ts';
import { ProviderForm } from '../parts/provider_form.tsx';
import { ProviderState, ProviderStatus } from '../parts/provider_state.tsx';
import { Refused } from '../parts/refused.tsx';
import { When } from '../parts/when.tsx';
import { provider, queryClient } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/settings/providers/$providerId');

type Props = { projectId: string; provider: Provider };

const Edit = ({ projectId, provider: known }: Props) => {
  const [typed, setTyped] = useState(() => toTyped(known));
  const edit = useChange(projectId, ['providers'], () =>
    api.providers.edit.mutate({
      projectId,
      providerId: known.id,
      change: toGiven(known.provider, typed),
    }),
  );
  return (
    <Stack>
      {edit.isSuccess && (
        <Alert color="teal" role="status">
          Tried, and saved.
        </Alert>
      )}
      <ProviderForm
        kind={known.provider}
        typed={typed}
        onType={(name, value) => setTyped((before) => ({ ...before, [name]: value }))}
        onSubmit={() => edit.mutate(undefined)}
        label="Try and save"
        kept={toTyped(known)}
        isPending={edit.isPending}
        error={edit.error}
      />
    </Stack>
  );
};

const Test = ({ projectId, provider: { id, last_test } }: Props) => {
  const test = useChange(projectId, ['providers'], (to: string) =>
    api.providers.test.mutate({ projectId, providerId: id, to }),
  );
  const failure = failureOf(test.error);
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    // What came of a test that was refused is noted, too.
    const readAnew = () =>
      void queryClient.invalidateQueries({ queryKey: ['providers', projectId] });
    test.mutate(fieldOf(event.currentTarget, 'to').trim(), { onError: readAnew });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Group align="flex-end" gap="sm">
          <TextInput
            name="to"
            type="email"
            label="Send one test message to"
            placeholder="you@example.com"
            error={issuesOf(test.error)['to']}
            flex={1}
            miw={200}
          />
          <Button type="submit" loading={test.isPending}>
            Send
          </Button>
        </Group>
        {test.data && (
          <Alert color="teal" role="status" title="The provider took it">
            In {test.data.took_ms} ms. Look whether it arrived, and not as spam.
          </Alert>
        )}
        {failure ? (
          <Alert color="red" role="alert" title={failure.cause}>
            {failure.fix}
          </Alert>
        ) : (
          <Refused error={test.error} fields={['to']} />
        )}
        {last_test && !test.error && (
          <Group gap={6}>
            <Text size="sm" c="dimmed">
              Last test: {last_test.ok ? 'taken' : (last_test.failure?.cause ?? 'not taken')},
            </Text>
            <When at={last_test.at} />
          </Group>
        )}
      </Stack>
    </form>
  );
};

const Remove = ({ projectId, provider: { id, display_name } }: Props) => {
  const [isSure, setIsSure] = useState(false);
  const navigate = useNavigate();
  const remove = useChange(projectId, ['providers'], () =>
    api.providers.remove.mutate({ projectId, providerId: id }),
  );
  const press = (): void => {
    if (!isSure) return setIsSure(true);
    remove.mutate(undefined, {
      onSuccess: () =>
        void navigate({ to: '/p/$projectId/settings/providers', params: { projectId } }),
    });
  };
  return (
    <Paper withBorder p="md" component="section">
      <Stack align="flex-start" gap="sm">
        <Title order={2} size="h5">
          Delete
        </Title>
        <Text size="sm" c="dimmed">
          The record and its credentials are forgotten. What is queued for it ends as cancelled, and
          so does what automations send through it later.
        </Text>
        <Refused error={remove.error} />
        <Button
          color="red"
          variant={isSure ? 'filled' : 'light'}
          loading={remove.isPending}
          onClick={press}
        >
          {isSure ? `Yes, delete ${display_name}` : 'Delete this provider'}
        </Button>
      </Stack>
    </Paper>
  );
};

const Known = ({ provider: known, projectId }: Props) => (
  <Stack>
    <Group justify="space-between" align="flex-start">
      <PageTitle
        title={known.display_name}
        note={`${known.from_email} · ${kinds[known.provider].word}`}
      />
      <ProviderStatus provider={known} projectId={projectId} />
    </Group>
    <ProviderState provider={known} projectId={projectId} />
    <Tabs defaultValue="settings" keepMounted>
      <Tabs.List mb="md">
        <Tabs.Tab value="settings">Settings</Tabs.Tab>
        <Tabs.Tab value="test">Test message</Tabs.Tab>
        <Tabs.Tab value="domain">Domain</Tabs.Tab>
        {known.provider === 'smtp' && <Tabs.Tab value="bounces">Bounces</Tabs.Tab>}
      </Tabs.List>
      <Tabs.Panel value="settings">
        <ForRole projectId={projectId} role="editor" to="to change it">
          <Stack>
            <Edit provider={known} projectId={projectId} />
            <Remove provider={known} projectId={projectId} />
          </Stack>
        </ForRole>
      </Tabs.Panel>
      <Tabs.Panel value="test">
        <ForRole projectId={projectId} role="editor" to="to send a test message">
          <Test provider={known} projectId={projectId} />
        </ForRole>
      </Tabs.Panel>
      <Tabs.Panel value="domain">
        <DomainHealth projectId={projectId} providerId={known.id} />
      </Tabs.Panel>
      {known.provider === 'smtp' && (
        <Tabs.Panel value="bounces">
          <ForRole projectId={projectId} role="editor" to="to change it">
            <BounceMailbox projectId={projectId} provider={known} />
          </ForRole>
        </Tabs.Panel>
      )}
    </Tabs>
  </Stack>
);

export const ProviderPage = () => {
  const { projectId, providerId } = route.useParams();
  const { data, isPending, error } = useQuery(provider(projectId, providerId));
  return (
    <Stack maw={900}>
      <Back to="/p/$projectId/settings/providers" projectId={projectId} label="Email providers" />
      {isPending && <Loading />}
      {isNotFound(error) && (
        <Empty isPage title="There is no such provider">
          It may have been deleted.
        </Empty>
      )}
      {error !== null && !isNotFound(error) && !data && <Failed error={error} />}
      {data && <Known provider={data} projectId={projectId} />}
    </Stack>
  );
};
