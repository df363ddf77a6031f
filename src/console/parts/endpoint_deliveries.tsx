import { Button, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { deliveriesOf, waitingOf } from '../alert_queries.ts';
import type { Delivery } from '../alert_queries.ts';
import { api } from '../api.ts';
import type { Endpoint } from '../automation_queries.ts';
import { useChange } from '../changes.ts';
import { wordsOfType } from './event_type_words.ts';
import { ForRole } from './for_role.tsx';
import { Paged } from './paged.tsx';
import { Refused } from './refused.tsx';
import { Status } from './status.tsx';
import { When } from './when.tsx';

type Props = { projectId: string; endpoint: Endpoint };

const STATUSES: Record<Delivery['status'], { word: string; color: string }> = {
  waiting: { word: 'Waiting', color: 'yellow' },
  calling: { word: 'Calling', color: 'blue' },
  delivered: { word: 'Delivered', color: 'teal' },
  failed: { word: 'Failed', color: 'red' },
  dropped: { word: 'Dropped', color: 'gray' },
};

const REASONS: Record<string, string> = {
  refused: 'the endpoint refused it',
  endpoint_gone: 'the endpoint answered that it is gone',
  no_answer: 'no answer',
  unresolvable: 'its name was not found',
  connection_failed: 'no connection',
  certificate_invalid: 'its certificate is not valid',
  expired: 'it waited too long',
  too_many_waiting: 'too many were waiting',
  person_erased: 'the person was erased',
  alert_gone: 'the alert was deleted',
};

const outcomeOf = ({ http_status, reason, attempts }: Delivery): string =>
  [
    ...(http_status === null ? [] : [`HTTP ${http_status}`]),
    ...(reason === null ? [] : [REASONS[reason] ?? reason]),
    `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
  ].join(', ');

const Row = ({ delivery }: { delivery: Delivery }) => {
  const { word, color } = STATUSES[delivery.status];
  return (
    <Group component="li" gap={8} wrap="wrap">
      <Status word={word} color={color} />
      <Text size="sm">{wordsOfType(delivery.type)}</Text>
      <Text size="sm" c="dimmed">
        {outcomeOf(delivery)}
      </Text>
      <When at={delivery.queued_at} />
    </Group>
  );
};

const count = new Intl.NumberFormat();

const Waiting = ({ projectId, endpoint }: Props) => {
  const { data } = useQuery(waitingOf(projectId, endpoint.id));
  if (!data || data.count === 0 || endpoint.failing_since === null) return null;
  return (
    <Group gap={6}>
      <Text size="sm">
        {data.is_capped ? 'More than ' : ''}
        {count.format(data.count)} {data.count === 1 ? 'delivery waits' : 'deliveries wait'}.
      </Text>
    </Group>
  );
};

/** What an endpoint was sent by subscription lately, and a way to try it. */
export const EndpointDeliveries = ({ projectId, endpoint }: Props) => {
  const { id: endpointId, name } = endpoint;
  const list = useInfiniteQuery(deliveriesOf(projectId, endpointId));
  const test = useChange(projectId, ['deliveries', 'endpoints', 'audit'], () =>
    api.endpoints.test.mutate({ projectId, endpointId }),
  );
  return (
    <Stack gap="xs" component="section" aria-label={`Recent deliveries of ${name}`}>
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          Recent deliveries
        </Text>
        <ForRole projectId={projectId} role="editor">
          <Button
            size="xs"
            variant="default"
            loading={test.isPending}
            onClick={() => test.mutate(undefined)}
            aria-label={`Send test event to ${name}`}
          >
            Send test event
          </Button>
        </ForRole>
      </Group>
      <Waiting projectId={projectId} endpoint={endpoint} />
      <Refused error={test.error} />
      <Paged
        list={list}
        empty={
          <Text size="sm" c="dimmed">
            Nothing was sent by subscription in the last 24 hours.
          </Text>
        }
      >
        {(items) => (
          <Stack component="ul" gap={6} m={0} p={0}>
            {items.map((delivery) => (
              <Row key={delivery.id} delivery={delivery} />
            ))}
          </Stack>
        )}
      </Paged>
    </Stack>
  );
};
