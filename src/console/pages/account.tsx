import { Badge, Button, Group, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { SubmitEvent } from 'react';
import { api, isRefused, issuesOf } from '../api.ts';
import { useOwnChange } from '../changes.ts';
import { Failed } from '../parts/failed.tsx';
import { fieldOf } from '../parts/form.ts';
import { Outside } from '../parts/outside.tsx';
import { Loading } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Refused } from '../parts/refused.tsx';
import { When } from '../parts/when.tsx';
import { sessions } from '../people_queries.ts';
import type { Session } from '../people_queries.ts';
import { session } from '../queries.ts';
import { useSession } from '../session.ts';

const Password = () => {
  const change = useOwnChange(
    ['sessions'],
    (typed: { old_password: string; new_password: string }) =>
      api.account.changePassword.mutate(typed),
  );
  const issues = issuesOf(change.error);
  const isWrong = isRefused(change.error, 'wrong_password');
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const typed = {
      old_password: fieldOf(form, 'old_password'),
      new_password: fieldOf(form, 'new_password'),
    };
    change.mutate(typed, { onSuccess: () => form.reset() });
  };
  return (
    <Paper withBorder p="md" component="section" aria-label="Password">
      <form onSubmit={submit}>
        <Stack gap="sm" maw={420}>
          <Title order={2} size="h4">
            Password
          </Title>
          <PasswordInput
            name="old_password"
            label="Old password"
            autoComplete="current-password"
            error={isWrong ? 'This is not your password.' : undefined}
            required
            withAsterisk={false}
          />
          <PasswordInput
            name="new_password"
            label="New password"
            description="12 characters or more. Your other sessions end."
            autoComplete="new-password"
            error={issues['new_password']}
            required
            withAsterisk={false}
          />
          {!isWrong && <Refused error={change.error} fields={['new_password']} />}
          {change.isSuccess && (
            <Text size="sm" role="status">
              Password changed.
            </Text>
          )}
          <Group>
            <Button type="submit" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  );
};

const One = ({ item }: { item: Session }) => {
  const end = useOwnChange(['sessions'], () =>
    api.account.endSession.mutate({ sessionId: item.id }),
  );
  return (
    <Group justify="space-between" gap="xs" component="li">
      <Group gap="xs">
        <Stack gap={2}>
          <Group gap={6}>
            <Text size="sm">Last used</Text>
            <When at={item.last_seen_at} />
          </Group>
          <Group gap={6}>
            <Text size="sm" c="dimmed">
              Signed in
            </Text>
            <When at={item.created_at} />
          </Group>
        </Stack>
        {item.is_current && <Badge variant="light">This session</Badge>}
      </Group>
      {!item.is_current && (
        <Button
          size="xs"
          variant="default"
          loading={end.isPending}
          onClick={() => end.mutate(undefined)}
        >
          End session
        </Button>
      )}
      <Refused error={end.error} />
    </Group>
  );
};

const Sessions = () => {
  const { data, isPending, error } = useQuery(sessions);
  const endOthers = useOwnChange(['sessions'], () => api.account.endOtherSessions.mutate());
  return (
    <Paper withBorder p="md" component="section" aria-label="Sessions">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            Sessions
          </Title>
          {data && data.items.length > 1 && (
            <Button
              size="xs"
              variant="default"
              loading={endOthers.isPending}
              onClick={() => endOthers.mutate(undefined)}
            >
              End other sessions
            </Button>
          )}
        </Group>
        <Text size="sm" c="dimmed">
          These are your open sessions. End a session that you do not recognize, then change your
          password.
        </Text>
        <Refused error={endOthers.error} />
        {isPending && <Loading />}
        {error !== null && !data && <Failed error={error} />}
        <Stack component="ul" gap="sm" m={0} p={0}>
          {data?.items.map((item) => (
            <One key={item.id} item={item} />
          ))}
        </Stack>
      </Stack>
    </Paper>
  );
};

export const AccountPage = () => {
  const { data } = useQuery(session);
  const { signOut } = useSession();
  return (
    <Outside>
      <Stack>
        <Group justify="space-between" align="flex-end">
          <PageTitle title="Your account" note={data?.person?.email ?? ''} />
          <Button variant="default" onClick={() => void signOut()}>
            Sign out
          </Button>
        </Group>
        <Password />
        <Sessions />
      </Stack>
    </Outside>
  );
};
