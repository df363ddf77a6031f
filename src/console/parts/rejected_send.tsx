import { Alert, Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api.ts';
import type { SendDetail } from '../api.ts';
import { useChange } from '../changes.ts';
import { provider } from '../queries.ts';
import { counted } from './counted.ts';
import { Refused } from './refused.tsx';

type Props = { projectId: string; send: SendDetail; onQueued: (count: number) => void };
type Reason = Parameters<typeof api.sends.requeueAll.mutate>[0]['reason'];
type Wanted = { projectId: string; reason: Reason; providerId: string };

const wantedOf = ({ projectId, send: { provider_id, status_reason } }: Props): Wanted => ({
  projectId,
  reason: status_reason as Reason,
  providerId: provider_id,
});

/** Queues all of them again, as many at a time as one request takes. Returns how many. */
const queueAll = async (wanted: Wanted): Promise<number> => {
  let count = 0;
  for (;;) {
    const { queued, has_more } = await api.sends.requeueAll.mutate(wanted);
    count += queued;
    if (!has_more || queued === 0) return count;
  }
};

const inWords = (count: number, isCapped = false): string =>
  `${isCapped ? 'more than ' : ''}${counted(count, 'email')}`;

/** How many emails were queued again. */
export const QueuedAgain = ({ count }: { count: number }) => (
  <Alert color="teal" role="status">
    {count === 1 ? '1 email is' : `${inWords(count)} are`} queued again.
  </Alert>
);

type Counted = { count: number; is_capped: boolean };

const sureOf = ({ count, is_capped }: Counted): string =>
  count === 0 ? 'None can be queued again' : `Yes, queue ${inWords(count, is_capped)} again`;

/** Queues all rejected emails of one provider and reason, once their number is confirmed. */
const All = (props: Props) => {
  const wanted = wantedOf(props);
  const { projectId } = props;
  const name = useQuery(provider(projectId, wanted.providerId)).data?.display_name;
  const [counted, setCounted] = useState<Counted | null>(null);
  const count = useChange(projectId, [], () => api.sends.countRejected.query(wanted));
  const all = useChange(projectId, ['sends', 'overview'], () => queueAll(wanted));
  const press = (): void => {
    if (counted) all.mutate(undefined, { onSuccess: props.onQueued });
    else count.mutate(undefined, { onSuccess: setCounted });
  };
  return (
    <>
      <Button
        size="xs"
        variant={counted ? 'filled' : 'default'}
        color={counted ? 'red' : 'gray'}
        loading={count.isPending || all.isPending}
        disabled={counted?.count === 0}
        onBlur={() => setCounted(null)}
        onClick={press}
      >
        {counted ? sureOf(counted) : `Queue all of ${name ?? 'this provider'} with this reason`}
      </Button>
      <Refused error={count.error ?? all.error} />
    </>
  );
};

/** An email that its provider refused: queued again alone, or with all others of its provider and reason. */
export const Rejected = (props: Props) => {
  const { projectId, send } = props;
  const one = useChange(projectId, ['sends', 'overview'], () =>
    api.sends.requeue.mutate({ projectId, sendId: send.id }),
  );
  return (
    <Alert color="yellow" title="The provider refused this email">
      <Stack gap="sm" align="flex-start">
        <span>
          Correct the cause first. An email that you queue again is rendered again, with the
          template version that it was planned with and the traits of today. A new template version
          does not change it. Suppressions and unsubscribes still stop it.
        </span>
        <Group gap="sm">
          <Button
            size="xs"
            loading={one.isPending}
            onClick={() => one.mutate(undefined, { onSuccess: () => props.onQueued(1) })}
          >
            Queue it again
          </Button>
          <All {...props} />
        </Group>
        <Refused error={one.error} />
      </Stack>
    </Alert>
  );
};
