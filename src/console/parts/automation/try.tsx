import { Button, Group, Paper, Stack, Switch, Text, TextInput, Title } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, issuesOf } from '../../api.ts';
import type { Profile } from '../../api.ts';
import type { Automation } from '../../automation_queries.ts';
import { useChange } from '../../changes.ts';
import { session } from '../../queries.ts';
import { PersonPicker } from '../person_picker.tsx';
import { Refused } from '../refused.tsx';
import { Why } from './why.tsx';

const About = ({ version }: { version: number }) => (
  <>
    <Title order={2} size="h4">
      Try it
    </Title>
    <Text size="sm" c="dimmed">
      Version {version} for one person, now: every wait takes five seconds, all mail goes to the
      address below, and their profile is told nothing.
    </Text>
  </>
);

/** Tries the latest version for one person, to an address of somebody else, with waits of seconds. */
export const Try = ({ projectId, kept }: { projectId: string; kept: Automation }) => {
  const { data } = useSuspenseQuery(session);
  const [profile, setProfile] = useState<Profile | null>(null);
  const [to, setTo] = useState(data.person?.email ?? '');
  const [callWebhooks, setCallWebhooks] = useState(false);
  const hasWebhook = Object.values(kept.definition?.steps ?? {}).some(
    ({ kind }) => kind === 'webhook',
  );
  const begin = useChange(projectId, ['runs'], async (person: Profile) => ({
    profileId: person.id,
    run: await api.automations.test.mutate({
      projectId,
      automationId: kept.id,
      profileId: person.id,
      to: to.trim(),
      callWebhooks,
    }),
  }));
  return (
    <Paper withBorder p="md" component="section">
      <Stack gap="sm">
        <About version={kept.latest_version} />
        <Group align="flex-start" grow preventGrowOverflow={false}>
          <PersonPicker projectId={projectId} label="As if for" onPick={setProfile} />
          <TextInput
            label="All mail goes to"
            type="email"
            value={to}
            onChange={(event) => setTo(event.currentTarget.value)}
            error={issuesOf(begin.error)['to']}
          />
        </Group>
        {hasWebhook && (
          <Switch
            label="Call the endpoints, too"
            checked={callWebhooks}
            onChange={(event) => setCallWebhooks(event.currentTarget.checked)}
          />
        )}
        <Button
          style={{ alignSelf: 'flex-start' }}
          disabled={profile === null}
          loading={begin.isPending}
          onClick={() => profile && begin.mutate(profile)}
        >
          Try it now
        </Button>
        <Refused error={begin.error} fields={['to']} />
        {begin.data && (
          <Why
            projectId={projectId}
            automationId={kept.id}
            profileId={begin.data.profileId}
            runId={begin.data.run.id}
          />
        )}
      </Stack>
    </Paper>
  );
};
