import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useId, useState } from 'react';
import type { Webhook } from '../../api.ts';
import { RefusedPosts } from '../refused_posts.tsx';
import { Status } from '../status.tsx';
import { inWords } from '../statuses.ts';
import { When } from '../when.tsx';
import { SetUp } from './set_up.tsx';
import { isInUse, stateOf } from './webhook_state.ts';

const outcomes: Record<Webhook['last_notices'][number]['outcome'], string> = {
  suppressed: 'suppressed the address',
  recorded: 'recorded',
  ignored: 'no effect',
  foreign: 'no effect: this project did not send that email through this provider',
};

const LastEvent = ({ webhook: { last_notices } }: { webhook: Webhook }) => {
  const [last] = last_notices;
  if (!last) {
    return (
      <Text size="sm" c="dimmed">
        Nothing has arrived yet.
      </Text>
    );
  }
  return (
    <Group gap={6}>
      <Text size="sm" c="dimmed">
        Last event: {inWords(last.kind)} ({outcomes[last.outcome]}),
      </Text>
      <When at={last.received_at} />
    </Group>
  );
};

/**
 * One vendor: how its webhook stands, and what to do there. The set-up of vendors that the project
 * uses is open.
 */
export const WebhookCard = ({ projectId, webhook }: { projectId: string; webhook: Webhook }) => {
  const { name } = webhook;
  const [isOpen, setIsOpen] = useState(isInUse(webhook));
  const id = useId();
  return (
    <Paper withBorder p="md" component="section" aria-label={name}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Title order={2} size="h4">
              {name}
            </Title>
            <Status {...stateOf(webhook)} />
          </Group>
          <Button
            size="xs"
            variant="default"
            onClick={() => setIsOpen(!isOpen)}
            aria-expanded={isOpen}
            aria-controls={id}
            aria-label={`${isOpen ? 'Hide set-up of' : 'Set up'} ${name}`}
          >
            {isOpen ? 'Hide set-up' : 'Set up'}
          </Button>
        </Group>
        <RefusedPosts webhook={webhook} />
        <LastEvent webhook={webhook} />
        <div id={id} hidden={!isOpen}>
          {isOpen && <SetUp projectId={projectId} webhook={webhook} />}
        </div>
      </Stack>
    </Paper>
  );
};
