import { Alert, Group, Text } from '@mantine/core';
import { counted } from '../counted.ts';
import { Status } from '../status.tsx';
import { When } from '../when.tsx';
import type { Mailbox } from './mailbox_fields.ts';

const wordOf = ({ status, failure }: Mailbox) => {
  if (status === 'stopped') return { word: 'Stopped', color: 'red' };
  return failure ? { word: 'Fails', color: 'orange' } : { word: 'Active', color: 'green' };
};

/** Says what came of the messages, so that a report without an effect is not missed. */
const countsOf = ({ message_count: messages, report_count: reports }: Mailbox): string =>
  `${counted(messages, 'message')} read since the settings were saved, ` +
  `${reports.toLocaleString()} of them about email of this project`;

/** Whether Trunkline can read a mailbox, why not, and what it has read. */
export const MailboxState = ({ mailbox }: { mailbox: Mailbox }) => (
  <>
    <Group gap="xs">
      <Status {...wordOf(mailbox)} />
      <Text size="sm" c="dimmed">
        {mailbox.last_read_at === null ? 'Not read yet' : 'Last read'}
      </Text>
      {mailbox.last_read_at !== null && <When at={mailbox.last_read_at} />}
    </Group>
    {mailbox.last_read_at !== null && (
      <Text size="sm" c="dimmed">
        {countsOf(mailbox)}
      </Text>
    )}
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
