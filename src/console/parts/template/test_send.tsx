import { Alert, Button, Group, Paper, Stack, TextInput, Title } from '@mantine/core';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, failureOf, issuesOf } from '../../api.ts';
import { providerChoices } from '../../automation_queries.ts';
import { useChange } from '../../changes.ts';
import { session } from '../../queries.ts';
import type { Draft } from '../../template_queries.ts';
import { ProviderChoice } from '../automation/choice.tsx';
import { Refused } from '../refused.tsx';

type Props = { projectId: string; draft: Draft; profileId: string | null; isWrong: boolean };

const NotSent = ({ error }: { error: unknown }) => {
  const failure = failureOf(error);
  if (failure === null) return <Refused error={error} fields={['to']} />;
  return (
    <Alert color="red" role="alert" title={failure.cause}>
      {failure.fix}
    </Alert>
  );
};

/** Sends what is shown to one address, now. */
export const TestSend = ({ projectId, draft, profileId, isWrong }: Props) => {
  const { data: signedIn } = useSuspenseQuery(session);
  const { data: providers } = useQuery(providerChoices(projectId));
  const [to, setTo] = useState(signedIn.person?.email ?? '');
  const [chosen, setChosen] = useState<string | null>(null);
  const providerId = chosen ?? providers?.items[0]?.id ?? '';
  const send = useChange(projectId, ['providers'], () =>
    api.templates.test.mutate({
      projectId,
      providerId,
      to: to.trim(),
      draft: { template: draft, ...(profileId === null ? {} : { profile_id: profileId }) },
    }),
  );
  return (
    <Paper withBorder p="md" component="section">
      <Stack gap="sm">
        <Title order={2} size="h4">
          Send a test
        </Title>
        <Group align="flex-start" grow preventGrowOverflow={false}>
          <TextInput
            label="To"
            type="email"
            value={to}
            onChange={(event) => setTo(event.currentTarget.value)}
            error={issuesOf(send.error)['to']}
          />
          <ProviderChoice
            projectId={projectId}
            label="Sender"
            value={providerId}
            onChange={setChosen}
          />
        </Group>
        <Button
          style={{ alignSelf: 'flex-start' }}
          variant="default"
          disabled={isWrong || providerId === '' || to.trim() === ''}
          loading={send.isPending}
          onClick={() => send.mutate(undefined)}
        >
          Send this mail to me
        </Button>
        {send.data && (
          <Alert color="teal" role="status">
            The provider took it, in {send.data.took_ms} ms.
          </Alert>
        )}
        <NotSent error={send.error} />
      </Stack>
    </Paper>
  );
};
