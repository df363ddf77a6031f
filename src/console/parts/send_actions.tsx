import { Alert, Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api.ts';
import type { SendDetail } from '../api.ts';
import { useChange } from '../changes.ts';
import { ForRole } from './for_role.tsx';
import { Refused } from './refused.tsx';
import { QueuedAgain, Rejected } from './rejected_send.tsx';
import { inWords } from './statuses.ts';

type Props = { projectId: string; send: SendDetail };

const Unknown = ({ projectId, send: { id, attempts, to, status_reason, waits_for } }: Props) => {
  const resolve = useChange(projectId, ['sends', 'overview'], (outcome: 'accepted' | 'not_sent') =>
    api.sends.resolve.mutate({ projectId, sendId: id, outcome }),
  );
  const sendAgain = useChange(projectId, ['sends', 'overview'], () =>
    api.sends.sendAgain.mutate({ projectId, sendId: id, afterAttempt: attempts }),
  );
  const isBusy = resolve.isPending || sendAgain.isPending;
  const isStopped = status_reason !== null && status_reason !== 'outcome_unknown';
  return (
    <Alert color="orange" title="Nobody knows whether the provider took this message">
      <Stack gap="sm" align="flex-start">
        <span>
          Trunkline handed the message over and got no answer: the connection ended, or the worker
          stopped. Find the message in the log of the provider, then say here what you found. If the
          provider reports on it, Trunkline records that by itself.
          {isStopped && ` It was to be sent again and was not: ${inWords(status_reason)}.`}
          {waits_for !== null && ' Its automation wants it to be sent again by itself.'}
        </span>
        <Group gap="sm">
          <Button size="xs" loading={isBusy} onClick={() => resolve.mutate('accepted')}>
            It was sent
          </Button>
          <Button
            size="xs"
            variant="default"
            loading={isBusy}
            onClick={() => resolve.mutate('not_sent')}
          >
            It was not sent
          </Button>
          {to !== null && (
            <Button
              size="xs"
              variant="default"
              loading={isBusy}
              onClick={() => sendAgain.mutate(undefined)}
            >
              It was not sent: send it again
            </Button>
          )}
        </Group>
        <Refused error={resolve.error ?? sendAgain.error} />
      </Stack>
    </Alert>
  );
};

const Cancel = ({ projectId, send: { id, status } }: Props) => {
  const words =
    status === 'unknown'
      ? (['Do not send it again by itself', 'Yes, do not send it again'] as const)
      : (['Cancel this send', 'Yes, cancel this send'] as const);
  const [isSure, setIsSure] = useState(false);
  const cancel = useChange(projectId, ['sends'], () =>
    api.sends.cancel.mutate({ projectId, sendId: id }),
  );
  return (
    <Stack gap="sm" align="flex-start">
      <Button
        variant={isSure ? 'filled' : 'default'}
        color={isSure ? 'red' : 'gray'}
        loading={cancel.isPending}
        onClick={() => (isSure ? cancel.mutate(undefined) : setIsSure(true))}
      >
        {isSure ? words[1] : words[0]}
      </Button>
      <Refused error={cancel.error} />
    </Stack>
  );
};

/** What an editor can do about a send in its present state. */
export const SendActions = (props: Props) => {
  const { status, waits_for } = props.send;
  const [queuedCount, setQueuedCount] = useState<number | null>(null);
  const mayCancel = status === 'queued' || (status === 'unknown' && waits_for !== null);
  if (status !== 'unknown' && status !== 'rejected' && !mayCancel && queuedCount === null)
    return null;
  return (
    <ForRole projectId={props.projectId} role="editor" to="to decide about this send">
      {queuedCount !== null && <QueuedAgain count={queuedCount} />}
      {status === 'unknown' && <Unknown {...props} />}
      {status === 'rejected' && <Rejected {...props} onQueued={setQueuedCount} />}
      {mayCancel && <Cancel {...props} />}
    </ForRole>
  );
};
