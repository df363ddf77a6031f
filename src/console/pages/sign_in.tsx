import {
  Alert,
  Anchor,
  Button,
  Center,
  Paper,
  PasswordInput,
  Stack,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import type { SubmitEvent } from 'react';
import { api, explain } from '../api.ts';
import { Brand } from '../parts/brand.tsx';
import { fieldOf } from '../parts/form.ts';
import { keepProof } from '../proof.ts';
import { queryClient } from '../queries.ts';

const FORM_WIDTH_PX = 380;
const route = getRouteApi('/sign-in');

export const SignIn = () => {
  const { next } = route.useSearch();
  const router = useRouter();
  const signIn = useMutation({
    mutationFn: (login: { email: string; password: string }) =>
      api.session.signIn.mutate({ ...login, remember_device: true }),
    onSuccess: async ({ proof }) => {
      keepProof(proof);
      queryClient.clear();
      await router.navigate({ href: next ?? '/', replace: true });
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    signIn.mutate({ email: fieldOf(form, 'email').trim(), password: fieldOf(form, 'password') });
  };
  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper withBorder p="xl" w="100%" maw={FORM_WIDTH_PX}>
        <form onSubmit={submit} noValidate>
          <Stack>
            <Brand />
            <title>Sign in · Trunkline</title>
            <Title order={1} size="h3">
              Sign in
            </Title>
            <TextInput
              name="email"
              type="email"
              label="E-mail address"
              autoComplete="username"
              required
              withAsterisk={false}
              autoFocus
            />
            <PasswordInput
              name="password"
              label="Password"
              autoComplete="current-password"
              required
              withAsterisk={false}
            />
            {signIn.isError && (
              <Alert color="red" role="alert">
                {explain(signIn.error)}
              </Alert>
            )}
            <Button type="submit" loading={signIn.isPending}>
              Sign in
            </Button>
            <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/request-access" />}>
              No account? Request access
            </Anchor>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
};
