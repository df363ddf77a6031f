import { Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { api } from '../api.ts';
import type { Endpoint } from '../automation_queries.ts';
import { useChange } from '../changes.ts';
import { EndpointDeliveries } from './endpoint_deliveries.tsx';
import { EndpointForm } from './endpoint_form.tsx';
import { knownTypes, wordsOfType } from './event_type_words.ts';
import { ForRole } from './for_role.tsx';
import { Refused } from './refused.tsx';
import { ShownOnce } from './shown_once.tsx';
import { Status } from './status.tsx';
import { When } from './when.tsx';

type Props = { projectId: string; endpoint: Endpoint };

export const READ_ANEW = ['endpoints', 'audit'];
const ONCE = 'Copy the new secret now: it is shown this once';

/** Something that is done the second time that it is said. */
const Twice = ({ label, sure, aria, change }: TwiceProps) => {
  const [isSure, setIsSure] = useState(false);
  return (
    <Button
      size="xs"
      variant={isSure ? 'filled' : 'default'}
      color={isSure ? 'red' : 'gray'}
      loading={change.isPending}
      aria-label={`${isSure ? sure : label}: ${aria}`}
      onBlur={() => setIsSure(false)}
      onClick={() => {
        if (isSure) change.mutate(undefined);
        setIsSure(!isSure);
      }}
    >
      {isSure ? sure : label}
    </Button>
  );
};
type TwiceProps = {
  label: string;
  sure: string;
  aria: string;
  change: { isPending: boolean; mutate: (input: undefined) => void };
};

const isFailing = ({ status, failing_since }: Endpoint): boolean =>
  status === 'active' && failing_since !== null;

const stateOf = (endpoint: Endpoint): { word: string; color: string } => {
  if (endpoint.status === 'disabled') return { word: 'Disabled', color: 'gray' };
  return isFailing(endpoint)
    ? { word: 'Failing', color: 'red' }
    : { word: 'Active', color: 'teal' };
};

const Failing = ({ since }: { since: string }) => (
  <Group gap={6}>
    <Text size="sm">
      It takes no deliveries: see the answers below. Correct the endpoint, then send a test event.
      Since
    </Text>
    <When at={since} />
  </Group>
);

const Head = ({ endpoint }: { endpoint: Endpoint }) => (
  <>
    <Group justify="space-between" align="flex-start">
      <Title order={2} size="h5" className="breaks">
        {endpoint.name}
      </Title>
      <Status {...stateOf(endpoint)} />
    </Group>
    <Code block className="snippet">
      {endpoint.url}
    </Code>
    <Group gap={6}>
      <Text size="sm" c="dimmed">
        since
      </Text>
      <When at={endpoint.created_at} />
    </Group>
    <Text size="sm">
      {endpoint.event_types.length === 0
        ? 'No subscriptions.'
        : `Subscribes to: ${endpoint.event_types.map(wordsOfType).join(', ')}.`}
    </Text>
    {endpoint.disabled_reason === 'gone' && (
      <Text size="sm">
        It answered 410, that it is gone. Trunkline posts nothing to it until you enable it.
      </Text>
    )}
    {isFailing(endpoint) && <Failing since={endpoint.failing_since ?? ''} />}
  </>
);

const Actions = ({ projectId, endpoint }: Props) => {
  const { id: endpointId, name, url, status, event_types } = endpoint;
  const typed = { name, url, event_types: knownTypes(event_types) };
  const [isEdited, edited] = useDisclosure();
  const isActive = status === 'active';
  const rotate = useChange(projectId, READ_ANEW, () =>
    api.endpoints.rotateSecret.mutate({ projectId, endpointId }),
  );
  const edit = useChange(projectId, READ_ANEW, (change: object) =>
    api.endpoints.edit.mutate({ projectId, endpointId, change }),
  );
  const remove = useChange(projectId, READ_ANEW, () =>
    api.endpoints.remove.mutate({ projectId, endpointId }),
  );
  if (isEdited)
    return (
      <EndpointForm typed={typed} label="Save" change={edit} onDone={edited.close}>
        <Button variant="default" onClick={edited.close}>
          Cancel
        </Button>
      </EndpointForm>
    );
  return (
    <Stack gap="sm">
      {rotate.data && (
        <ShownOnce
          title={ONCE}
          value={rotate.data.secret}
          what="the secret"
          about="For a day calls are signed with the old one, too: change over when you like."
        />
      )}
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={edited.open} aria-label={`Edit ${name}`}>
          Edit
        </Button>
        <Twice label="New secret" sure="Yes, make a new one" aria={name} change={rotate} />
        <Button
          size="xs"
          variant="default"
          loading={edit.isPending}
          aria-label={`${isActive ? 'Disable' : 'Enable'} ${name}`}
          onClick={() => edit.mutate({ status: isActive ? 'disabled' : 'active' })}
        >
          {isActive ? 'Disable' : 'Enable'}
        </Button>
        <Twice
          label="Delete"
          sure="Yes, steps that tell it fail from then on"
          aria={name}
          change={remove}
        />
      </Group>
      <Refused error={rotate.error ?? edit.error ?? remove.error} />
    </Stack>
  );
};

/** One endpoint, and what may be done with it. */
export const EndpointCard = ({ projectId, endpoint }: Props) => (
  <Paper withBorder p="md" component="li" aria-label={endpoint.name}>
    <Stack gap="sm">
      <Head endpoint={endpoint} />
      <ForRole projectId={projectId} role="editor">
        <Actions projectId={projectId} endpoint={endpoint} />
      </ForRole>
      <EndpointDeliveries projectId={projectId} endpoint={endpoint} />
    </Stack>
  </Paper>
);
