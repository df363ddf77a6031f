import { Button, Group } from '@mantine/core';
import { useRef, useState } from 'react';
import { Refused } from './refused.tsx';

type Props = { isPending: boolean; error: unknown; onUndo: () => void };

/** Undoes a link, once somebody has said so twice. */
export const UndoButton = ({ isPending, error, onUndo }: Props) => {
  const [isSure, setIsSure] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const keep = (): void => {
    setIsSure(false);
    button.current?.focus();
  };
  return (
    <Group gap="xs">
      <Button
        ref={button}
        variant={isSure ? 'filled' : 'default'}
        color={isSure ? 'red' : 'gray'}
        loading={isPending}
        onClick={() => (isSure ? onUndo() : setIsSure(true))}
      >
        {isSure ? 'Yes, undo this link' : 'Undo this link'}
      </Button>
      {isSure && !isPending && (
        <Button variant="subtle" onClick={keep}>
          Keep it
        </Button>
      )}
      <Refused error={error} />
    </Group>
  );
};
