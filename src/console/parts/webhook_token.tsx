import { Alert, Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api.ts';
import { useChange } from '../changes.ts';
import { webhookTokens } from '../queries.ts';
import { Copy } from './copy.tsx';
import { Failed } from './failed.tsx';
import { Loading } from './paged.tsx';
import { Refused } from './refused.tsx';
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
      <Button
        size="xs"
        variant={isSure ? 'filled' : 'default'}
        color={isSure ? 'red' : 'gray'}
        loading={revoke.isPending}
        onClick={() => (isSure ? revoke.mutate(undefined) : setIsSure(true))}
        aria-label={`${isSure ? 'Yes, revoke' : 'Revoke'} the token that ends in ${token.last_four}`}
      >
        {isSure ? 'Yes, revoke it' : 'Revoke'}
      </Button>
      <Refused error={revoke.error} />
    </Group>
  );
};

const Fresh = ({ token }: { token: string }) => (
  <Alert color="teal" role="status" title="Copy the new token now: it is shown this once">
    <Group wrap="nowrap" gap="xs">
      <Code block className="snippet" flex={1}>
        {token}
      </Code>
      <Copy value={token} what="the token" />
    </Group>
  </Alert>
);

/** The tokens that providers post with: a new one first, then the old one goes. */
export const WebhookTokens = ({ projectId }: { projectId: string }) => {
  const { data, isPending, error } = useQuery(webhookTokens(projectId));
  const issue = useChange(projectId, ['webhook_tokens'], () =>
    api.webhookTokens.issue.mutate({ projectId }),
  );
  return (
    <Paper withBorder p="md" component="section">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            Token
          </Title>
          <Button size="xs" loading={issue.isPending} onClick={() => issue.mutate(undefined)}>
            Make a new token
          </Button>
        </Group>
        <Text size="sm" c="dimmed">
          Providers prove with it that they are yours: as bearer token, as password, in the header
          X-Webhook-Token, or as ?token= at the end of the address. To replace it, make a new one,
          give it to your providers, then revoke the old one.
        </Text>
        {issue.data && <Fresh token={issue.data.token} />}
        <Refused error={issue.error} />
        {isPending && <Loading />}
        {error !== null && !data && <Failed error={error} />}
        {data?.items.length === 0 && (
          <Alert color="orange">No token is live: providers that need one are refused.</Alert>
        )}
        {data?.items.map((token) => (
          <One key={token.id} projectId={projectId} token={token} />
        ))}
      </Stack>
    </Paper>
  );
};
