import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api.ts';
import { useChange } from '../changes.ts';
import { ForRole } from './for_role.tsx';
import { Refused } from './refused.tsx';

type Props = { projectId: string; importId: string };

const Undo = ({ projectId, importId }: Props) => {
  const [isSure, setIsSure] = useState(false);
  const undo = useChange(projectId, ['addresses'], () =>
    api.suppressions.undoImport.mutate({ projectId, importId }),
  );
  if (undo.data) {
    return (
      <Text size="sm" role="status">
        Taken back: {undo.data.released.toLocaleString()} of its addresses may get mail now.
      </Text>
    );
  }
  return (
    <Group gap="xs">
      <Button
        size="xs"
        variant={isSure ? 'filled' : 'default'}
        color={isSure ? 'red' : 'gray'}
        loading={undo.isPending}
        onClick={() => (isSure ? undo.mutate(undefined) : setIsSure(true))}
      >
        {isSure ? 'Yes, take the whole import back' : 'Take the import back'}
      </Button>
      <Refused error={undo.error} />
    </Group>
  );
};

/** Takes an import back, once somebody has said so twice. */
export const UndoImport = (props: Props) => (
  <ForRole projectId={props.projectId} role="editor">
    <Undo {...props} />
  </ForRole>
);
