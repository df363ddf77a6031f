import { Badge, Button, Group, Paper, PasswordInput, Stack, Text } from '@mantine/core';
import { TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { SubmitEvent } from 'react';
import { api, issuesOf } from '../api.ts';
import { useOwnChange } from '../changes.ts';
import { AuditList } from '../parts/audit_list.tsx';
import { Empty } from '../parts/empty.tsx';
import { fieldOf } from '../parts/form.ts';
import { Outside } from '../parts/outside.tsx';
import { Paged } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { PasswordAgain } from '../parts/password_again.tsx';
import { PlacesOfAdministrators } from '../parts/places_of_administrators.tsx';
import { Refused } from '../parts/refused.tsx';
import { InvitationLink } from '../parts/shown_once.tsx';
import { When } from '../parts/when.tsx';
import { administratorInvitations, installationAudit, people } from '../people_queries.ts';
import type { Account, Invitation } from '../people_queries.ts';

const READ_ANEW = ['people', 'installation-audit'];

const One = ({ item }: { item: Account }) => {
  const [isAsked, asked] = useDisclosure();
  const remove = useOwnChange(READ_ANEW, (password: string) =>
    api.people.remove.mutate({ personId: item.id, password }),
  );
  return (
    <Paper withBorder p="md" component="li">
      <Group justify="space-between" gap="sm">
        <Stack gap={4} className="breaks">
          <Group gap="xs">
            <Text fw={600} className="breaks">
              {item.email}
            </Text>
            {item.is_admin && <Badge variant="light">administrator</Badge>}
            {item.is_you && <Badge variant="light">you</Badge>}
          </Group>
          <Group gap={6}>
            <Text size="sm" c="dimmed">
              {item.projects === 1 ? 'in 1 project' : `in ${item.projects} projects`}, since
            </Text>
            <When at={item.created_at} />
          </Group>
        </Stack>
        <Button
          size="xs"
          variant="default"
          onClick={asked.open}
          aria-label={`Remove ${item.email}`}
        >
          Remove
        </Button>
      </Group>
      <PasswordAgain
        title="Remove an account"
        about={`${item.email} leaves every project, and cannot sign in any more.`}
        label="Remove the account"
        isOpen={isAsked}
        onClose={asked.close}
        change={remove}
      />
    </Paper>
  );
};

const Invited = ({ item }: { item: Invitation }) => {
  const revoke = useOwnChange(READ_ANEW, () =>
    api.people.revokeInvitation.mutate({ invitationId: item.id }),
  );
  return (
    <Group justify="space-between" component="li" gap="xs">
      <Group gap={6}>
        <Text className="breaks">{item.email}</Text>
        <Text size="sm" c="dimmed">
          until
        </Text>
        <When at={item.expires_at} />
      </Group>
      <Button
        size="xs"
        variant="default"
        loading={revoke.isPending}
        onClick={() => revoke.mutate(undefined)}
        aria-label={`Take back the invitation of ${item.email}`}
      >
        Take back
      </Button>
    </Group>
  );
};

const Invite = () => {
  const { data } = useQuery(administratorInvitations);
  const invite = useOwnChange(READ_ANEW, (typed: { email: string; password: string }) =>
    api.people.invite.mutate(typed),
  );
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const typed = { email: fieldOf(form, 'email').trim(), password: fieldOf(form, 'password') };
    invite.mutate(typed, { onSuccess: () => form.reset() });
  };
  return (
    <Paper withBorder p="md" component="section" aria-label="Invite an administrator">
      <Stack gap="sm">
        <Title order={2} size="h4">
          Invite an administrator
        </Title>
        <form onSubmit={submit} noValidate>
          <Stack gap="sm">
            <Group align="flex-start" gap="sm">
              <TextInput
                name="email"
                type="email"
                label="E-mail address"
                error={issuesOf(invite.error)['email']}
                flex={1}
                miw={220}
              />
              <PasswordInput
                name="password"
                label="Your password"
                autoComplete="current-password"
                flex={1}
                miw={220}
              />
            </Group>
            <Refused error={invite.error} fields={['email']} />
            <Group>
              <Button type="submit" loading={invite.isPending}>
                Invite
              </Button>
            </Group>
          </Stack>
        </form>
        {invite.data && <InvitationLink path={invite.data.path} email={invite.variables.email} />}
        <Stack component="ul" gap="sm" m={0} p={0}>
          {data?.items.map((item) => (
            <Invited key={item.id} item={item} />
          ))}
        </Stack>
      </Stack>
    </Paper>
  );
};

const NothingYet = () => (
  <Empty title="Nothing was changed yet">
    What administrators do about people, and everybody about their own account, is listed here.
  </Empty>
);

const Changes = () => {
  const list = useInfiniteQuery(installationAudit);
  return (
    <Stack component="section" aria-label="Changes">
      <Title order={2} size="h4">
        Changes
      </Title>
      <Paged list={list} empty={<NothingYet />}>
        {(items) => <AuditList items={items} />}
      </Paged>
    </Stack>
  );
};

export const PeoplePage = () => {
  const list = useInfiniteQuery(people);
  return (
    <Outside>
      <Stack>
        <PlacesOfAdministrators />
        <PageTitle
          title="People"
          note="Everybody who has an account. Administrators see every project."
        />
        <Paged list={list} empty={<Empty title="Nobody">There is no account.</Empty>}>
          {(items) => (
            <Stack component="ul" gap="sm" m={0} p={0}>
              {items.map((item) => (
                <One key={item.id} item={item} />
              ))}
            </Stack>
          )}
        </Paged>
        <Invite />
        <Changes />
      </Stack>
    </Outside>
  );
};
