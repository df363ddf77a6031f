import { Alert, Button, Stack } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { explain } from '../api.ts';

/** A question that was not answered, in the server's words, and the way to ask again. */
export const Failed = ({ error, reset }: { error: unknown; reset?: () => void }) => (
  <Alert color="red" icon={<IconAlertTriangle />} title="This could not be loaded" role="alert">
    <Stack align="flex-start" gap="sm">
      {explain(error)}
      <Button size="xs" variant="default" onClick={reset ?? (() => location.reload())}>
        Try again
      </Button>
    </Stack>
  </Alert>
);
