import { Alert, Text } from '@mantine/core';
import { Copyable } from './copy.tsx';

type Props = { title: string; value: string; what: string; about?: string };

/** A secret that the server shows this once. */
export const ShownOnce = ({ title, value, what, about }: Props) => (
  <Alert color="teal" role="status" title={title}>
    {about !== undefined && (
      <Text size="sm" mb="xs">
        {about}
      </Text>
    )}
    <Copyable value={value} what={what} />
  </Alert>
);

/** The link of an invitation: nobody but its bearer can use it, so it goes by a way that both trust. */
export const InvitationLink = ({ path, email }: { path: string; email: string }) => (
  <ShownOnce
    title="Copy the link now: it is shown this once"
    about={`Give it to ${email}, and to nobody else. It works once, for seven days.`}
    value={`${location.origin}${path}`}
    what="the link"
  />
);
