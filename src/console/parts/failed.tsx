import { Alert, Button, Stack } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { explain } from '../api.ts';
import { isReached, loadAgainOnce } from '../load.ts';
import { NoCode, Replaced } from '../no_code.ts';

/** A question that was not answered, in the server's words, and the way to ask again. */
export const Failed = ({ error, reset }: { error: unknown; reset?: () => void }) => {
  const [isAsking, setIsAsking] = useState(false);
  // Browsers remember that code did not come: the Console is loaded anew, once there is something to load it from.
  const loadAgain = async (): Promise<void> => {
    setIsAsking(true);
    if (await isReached()) location.reload();
    setIsAsking(false);
  };
  const isToBeLoaded = error instanceof NoCode || !reset;
  const isReplaced = error instanceof Replaced;
  useEffect(() => {
    if (isReplaced) loadAgainOnce();
  }, [isReplaced]);
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title="This could not be loaded" role="alert">
      <Stack align="flex-start" gap="sm">
        {explain(error)}
        <Button
          size="xs"
          variant="default"
          loading={isAsking}
          onClick={isToBeLoaded ? () => void loadAgain() : reset}
        >
          Try again
        </Button>
      </Stack>
    </Alert>
  );
};
