import { Alert, Anchor, Button, Center, Paper, Stack, Text } from '@mantine/core';
import { Textarea, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { SubmitEvent } from 'react';
import { api, issuesOf } from '../api.ts';
import { Brand } from '../parts/brand.tsx';
import { fieldOf } from '../parts/form.ts';
import { Refused } from '../parts/refused.tsx';

const FORM_WIDTH_PX = 460;
const FIELDS = ['email', 'name', 'purpose'];
type Typed = { email: string; name: string; purpose: string };

const Thanks = () => (
  <Alert color="teal" role="status" title="Your request is kept">
    Somebody looks at it. If they let you in, they give you a link of your own.
  </Alert>
);

const Form = () => {
  const ask = useMutation({ mutationFn: (typed: Typed) => api.access.request.mutate(typed) });
  const issues = issuesOf(ask.error);
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    ask.mutate({
      email: fieldOf(form, 'email').trim(),
      name: fieldOf(form, 'name').trim(),
      purpose: fieldOf(form, 'purpose').trim(),
    });
  };
  if (ask.isSuccess) return <Thanks />;
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          name="email"
          type="email"
          label="E-mail address"
          autoComplete="email"
          error={issues['email']}
          autoFocus
        />
        <TextInput name="name" label="Your name" autoComplete="name" error={issues['name']} />
        <Textarea
          name="purpose"
          label="What do you want it for?"
          error={issues['purpose']}
          autosize
          minRows={3}
          maxRows={8}
        />
        <Refused error={ask.error} fields={FIELDS} />
        <Button type="submit" loading={ask.isPending}>
          Ask for access
        </Button>
      </Stack>
    </form>
  );
};

export const RequestAccessPage = () => (
  <Center mih="100dvh" p="md" component="main">
    <Paper withBorder p="xl" w="100%" maw={FORM_WIDTH_PX}>
      <Stack>
        <Brand />
        <title>Request access · Trunkline</title>
        <Title order={1} size="h3">
          Request access
        </Title>
        <Text size="sm" c="dimmed">
          Trunkline is in private beta. Say who you are, and what it would be for.
        </Text>
        <Form />
        <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/sign-in" />}>
          I have an account: sign in
        </Anchor>
      </Stack>
    </Paper>
  </Center>
);
