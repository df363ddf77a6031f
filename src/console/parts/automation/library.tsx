import { Button, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { library, providerChoices } from '../../automation_queries.ts';
import { useChange } from '../../changes.ts';
import { Refused } from '../refused.tsx';

/** What each is for; one that is new here is told by what starts it. */
const ABOUT: Record<string, string> = {
  welcome_series: 'Says welcome, shares what is worth knowing, and asks after a week how it goes.',
  onboarding_nudge: 'Helps people over the first step, and stops as soon as they have taken it.',
  trial_ending: 'Reminds people before their trial ends, on the date that they have.',
  abandoned_checkout: 'Reminds whoever left with a full basket, until they have ordered.',
  win_back: 'Writes to people who were away for long, and makes them an offer.',
};

type Ready = { key: string; name: string; event: string | null; mails: number };

const Card = ({ projectId, ready }: { projectId: string; ready: Ready }) => {
  const { key, name, event, mails } = ready;
  const navigate = useNavigate();
  const { data } = useQuery(providerChoices(projectId));
  const provider = data?.items[0];
  const adopt = useChange(projectId, ['automations', 'templates'], async (providerId: string) => {
    const made = await api.readyMade.adopt.mutate({ projectId, key, providerId });
    const params = { projectId, automationId: made.automation_id };
    await navigate({ to: '/p/$projectId/automations/$automationId', params });
  });
  return (
    <Paper withBorder p="md" component="li">
      <Stack gap="xs" h="100%" justify="space-between">
        <div>
          <Title order={4} size="h5">
            {name}
          </Title>
          <Text size="sm" c="dimmed" mt={4}>
            {ABOUT[key] ?? `Begins with ${event ?? 'somebody’s hand'}.`}
          </Text>
        </div>
        <Group justify="space-between">
          <Text size="xs" c="dimmed">
            {mails} mails{event === null ? '' : ` after ${event}`}
          </Text>
          <Button
            size="xs"
            variant="light"
            aria-label={`Use it: ${name}`}
            disabled={!provider}
            loading={adopt.isPending}
            onClick={() => provider && adopt.mutate(provider.id)}
          >
            Use it
          </Button>
        </Group>
        <Refused error={adopt.error} />
      </Stack>
    </Paper>
  );
};

const Connect = ({ projectId }: { projectId: string }) => {
  const { data } = useQuery(providerChoices(projectId));
  if (data?.items.length !== 0) return null;
  return (
    <Group gap="xs">
      <Text size="sm">They need a sender first.</Text>
      <Button
        size="compact-sm"
        variant="default"
        renderRoot={(props) => (
          <Link {...props} to="/p/$projectId/settings/providers/new" params={{ projectId }} />
        )}
      >
        Connect a provider
      </Button>
    </Group>
  );
};

/** Ready automations, each put into the project as a draft with one click: nobody gets mail before it is activated. */
export const Library = ({ projectId }: { projectId: string }) => {
  const { data } = useQuery(library(projectId));
  if (!data) return null;
  return (
    <Stack gap="sm" component="section" aria-label="Ready automations">
      <Title order={3} size="h4">
        Or begin with a ready one
      </Title>
      <Text size="sm" c="dimmed">
        It becomes a draft with its templates: change what you like, nobody gets mail before you
        activate it.
      </Text>
      <Connect projectId={projectId} />
      <SimpleGrid component="ul" cols={{ base: 1, sm: 2, lg: 3 }} m={0} p={0}>
        {data.items.map((ready) => (
          <Card key={ready.key} projectId={projectId} ready={ready} />
        ))}
      </SimpleGrid>
    </Stack>
  );
};
