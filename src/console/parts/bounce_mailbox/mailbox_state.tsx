import { Alert, Group, Text } from '@mantine/core';
import { Status } from '../status.tsx';
import { When } from '../when.tsx';
import type { Mailbox } from './mailbox_fields.ts';

const wordOf = ({ status, failure }: Mailbox) => {
  if (status === 'stopped') return { word: 'Stopped', color: 'red' };
  return failure ? { word: 'Fails', color: 'orange' } : { word: 'Active', color: 'green' };
};

/** Whether a mailbox is read, and why not. */
export const MailboxState = ({ mailbox }: { mailbox: Mailbox }) => (
  <>
    <Group gap="xs">
      <Status {...wordOf(mailbox)} />
      <Text size="sm" c="dimmed">
        {mailbox.last_read_at === null ? 'Not read yet' : 'Last read'}
      </Text>
      {mailbox.last_read_at !== null && <When at={mailbox.last_read_at} />}
    </Group>
    {mailbox.failure && (
      <Alert
        color={mailbox.status === 'stopped' ? 'red' : 'orange'}
        title={mailbox.failure.cause}
        role="status"
      >
        {mailbox.failure.fix}
      </Alert>
    )}
  </>
);
