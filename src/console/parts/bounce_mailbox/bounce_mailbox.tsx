import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api.ts';
import type { Provider } from '../../api.ts';
import { useChange } from '../../changes.ts';
import { Refused } from '../refused.tsx';
import { toGivenMailbox } from './mailbox_fields.ts';
import { MailboxForm } from './mailbox_form.tsx';
import { MailboxState } from './mailbox_state.tsx';

type Props = { projectId: string; provider: Provider };
type Change = Parameters<typeof api.providers.edit.mutate>[0]['change']['bounce_mailbox'];

const useMailboxChange = ({ projectId, provider: { id } }: Props) =>
  useChange(projectId, ['providers'], (mailbox: Change) =>
    api.providers.edit.mutate({ projectId, providerId: id, change: { bounce_mailbox: mailbox } }),
  );

const Remove = (props: Props) => {
  const [isSure, setIsSure] = useState(false);
  const remove = useMailboxChange(props);
  return (
    <Group>
      <Button
        color="red"
        variant={isSure ? 'filled' : 'light'}
        loading={remove.isPending}
        onClick={() => (isSure ? remove.mutate(null) : setIsSure(true))}
      >
        {isSure ? 'Yes, remove it' : 'Remove bounce mailbox'}
      </Button>
      <Refused error={remove.error} />
    </Group>
  );
};

/** The mailbox to which the bounces of an SMTP provider come: whether it is read, and how. */
export const BounceMailbox = (props: Props) => {
  const mailbox = props.provider.bounce_mailbox ?? null;
  const save = useMailboxChange(props);
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        A relay without webhooks reports bounces by email. Trunkline reads this mailbox about every
        minute, and matches each report to its send.
      </Text>
      {mailbox && <MailboxState mailbox={mailbox} />}
      {save.isSuccess && (
        <Alert color="teal" role="status">
          Tested and saved.
        </Alert>
      )}
      <MailboxForm
        key={mailbox === null ? 'new' : 'known'}
        mailbox={mailbox}
        onSave={(typed) => save.mutate(toGivenMailbox(typed) as Change)}
        isPending={save.isPending}
        error={save.error}
      />
      {mailbox && <Remove {...props} />}
    </Stack>
  );
};
