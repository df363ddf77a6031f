import { Anchor, Button, Center, Paper, PasswordInput, Stack, Text } from '@mantine/core';
import { TextInput, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import type { SubmitEvent } from 'react';
import { api, explain, isNotFound, issuesOf } from '../api.ts';
import { Brand } from '../parts/brand.tsx';
import { fieldOf } from '../parts/form.ts';
import { Loading } from '../parts/paged.tsx';
import { Refused } from '../parts/refused.tsx';
import type { OpenedInvitation } from '../people_queries.ts';
import { keepProof } from '../proof.ts';
import { queryClient } from '../queries.ts';

const FORM_WIDTH_PX = 420;

/** Behind the #, where no request and no referrer bears it. */
const readToken = (): string => location.hash.slice(1);

const into = ({ project, role }: OpenedInvitation): string =>
  project === null
    ? 'You are invited to be an administrator of this installation.'
    : `You are invited to ${project}, as ${role}.`;

const Form = ({ token, invitation }: { token: string; invitation: OpenedInvitation }) => {
  const router = useRouter();
  const accept = useMutation({
    mutationFn: (password: string) =>
      api.invitations.accept.mutate({ token, password, remember_device: true }),
    onSuccess: async ({ proof }) => {
      keepProof(proof);
      queryClient.clear();
      await router.navigate({ to: '/', replace: true });
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    accept.mutate(fieldOf(event.currentTarget, 'password'));
  };
  const { email, is_known } = invitation;
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text>{into(invitation)}</Text>
        <TextInput
          name="email"
          label="E-mail address"
          value={email}
          autoComplete="username"
          readOnly
        />
        <PasswordInput
          name="password"
          label={is_known ? 'Your password' : 'Choose a password'}
          description={is_known ? 'You have an account here.' : '12 characters or more.'}
          autoComplete={is_known ? 'current-password' : 'new-password'}
          error={issuesOf(accept.error)['password']}
          required
          withAsterisk={false}
          autoFocus
        />
        <Refused error={accept.error} fields={['password']} />
        <Button type="submit" loading={accept.isPending}>
          {is_known ? 'Sign in and join' : 'Make my account and join'}
        </Button>
      </Stack>
    </form>
  );
};

export const InvitationPage = () => {
  const token = readToken();
  const { data, error, isPending } = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => api.invitations.open.mutate({ token: token === '' ? '-' : token }),
    staleTime: Infinity,
    retry: (count, failed) => count < 1 && !isNotFound(failed),
  });
  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper withBorder p="xl" w="100%" maw={FORM_WIDTH_PX}>
        <Stack>
          <Brand />
          <title>Invitation · Trunkline</title>
          <Title order={1} size="h3">
            Invitation
          </Title>
          {isPending && <Loading />}
          {error !== null && !data && (
            <>
              <Text role="alert">{explain(error)}</Text>
              <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/sign-in" />}>
                I have an account: sign in
              </Anchor>
            </>
          )}
          {data && <Form token={token} invitation={data} />}
        </Stack>
      </Paper>
    </Center>
  );
};
