import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';

/** Asks whoever leaves a page whose changes are not saved. */
export const Leaving = ({ isDirty }: { isDirty: boolean }) => {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  return (
    <Modal
      opened={status === 'blocked'}
      onClose={() => reset?.()}
      title="Leave without saving?"
      centered
    >
      <Stack>
        <Text size="sm">What you changed here is not saved, and would be lost.</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => proceed?.()}>
            Leave
          </Button>
          <Button onClick={() => reset?.()} data-autofocus>
            Stay here
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};
