import { Alert, Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api.ts';
import { useChange } from '../changes.ts';
import { webhookTokens } from '../queries.ts';
import { Failed } from './failed.tsx';
import { ForRole } from './for_role.tsx';
import { Loading } from './paged.tsx';
import { PasswordAgain } from './password_again.tsx';
import { Refused } from './refused.tsx';
import { ShownOnce } from './shown_once.tsx';
import { When } from './when.tsx';

type Token = { id: string; last_four: string; created_at: string };

const One = ({ projectId, token }: { projectId: string; token: Token }) => {
  const [isSure, setIsSure] = useState(false);
  const revoke = useChange(projectId, ['webhook_tokens'], () =>
    api.webhookTokens.revoke.mutate({ projectId, tokenId: token.id }),
  );
  return (
    <Group justify="space-between" gap="xs">
      <Group gap="xs">
        <Code>…{token.last_four}</Code>
        <Text size="sm" c="dimmed">
          since
        </Text>
        <When at={token.created_at} />
      </Group>
      <ForRole projectId={projectId} role="owner">
        <Button
          size="xs"
          variant={isSure ? 'filled' : 'default'}
          color={isSure ? 'red' : 'gray'}
          loading={revoke.isPending}
          onClick={() => (isSure ? revoke.mutate(undefined) : setIsSure(true))}
          aria-label={`${isSure ? 'Yes, revoke' : 'Revoke'} the token that ends in ${token.last_four}`}
        >
          {isSure ? 'Yes, revoke' : 'Revoke'}
        </Button>
      </ForRole>
      <Refused error={revoke.error} />
    </Group>
  );
};

const ONCE = 'Copy the new token now: it is shown this once';
const ABOUT = 'Whoever has it can tell this project of bounces and deliveries.';

/** The tokens that providers post with: a new one first, then the old one goes. */
export const WebhookTokens = ({ projectId }: { projectId: string }) => {
  const { data, isPending, error } = useQuery(webhookTokens(projectId));
  const [isAsked, asked] = useDisclosure();
  const issue = useChange(projectId, ['webhook_tokens'], (password: string) =>
    api.webhookTokens.issue.mutate({ projectId, password }),
  );
  return (
    <Paper withBorder p="md" component="section">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            Token
          </Title>
          <ForRole projectId={projectId} role="owner" to="for a new token">
            <Button size="xs" onClick={asked.open}>
              Make a new token
            </Button>
          </ForRole>
        </Group>
        <Text size="sm" c="dimmed">
          Providers prove with it that they are yours: as bearer token, as password, in the header
          X-Webhook-Token, or as ?token= at the end of the address. To replace it, make a new one,
          give it to your providers, then revoke the old one.
        </Text>
        {issue.data && <ShownOnce title={ONCE} value={issue.data.token} what="the token" />}
        {isPending && <Loading />}
        {error !== null && !data && <Failed error={error} />}
        {data?.items.length === 0 && (
          <Alert color="orange">No token is live: providers that need one are refused.</Alert>
        )}
        {data?.items.map((token) => (
          <One key={token.id} projectId={projectId} token={token} />
        ))}
      </Stack>
      <PasswordAgain
        title="Make a new token"
        about={ABOUT}
        label="Make the token"
        isOpen={isAsked}
        onClose={asked.close}
        change={issue}
      />
    </Paper>
  );
};
